// Package oauth keeps the tokens of Notion connections that a person authorized: it exchanges the code of a consent, encrypts what
// it gets, and renews it when Notion refuses the access token or its told end is near.
//
// A refresh token is good for one renewal, whose answer brings both tokens anew. So one process at a time renews a pair: it claims
// the pair's generation in Postgres, asks Notion, and replaces the pair in one statement that names the generation it replaces.
// All others wait and use the new pair. No transaction is open meanwhile.
//
// What can't be made safe is a process that ends after Notion replaced the tokens and before they are stored. As little of it as
// possible is left:
//
//   - a renewal goes on when the request that asked for it is cancelled;
//   - storing is tried again for 20 seconds, and by later requests of the process after that;
//   - a process that stood still and comes late stores its tokens all the same, unless others were stored;
//   - the claim stays behind a process that died: the next one tries the old refresh token once, and if that is dead, the sentence
//     says that a renewal was interrupted. A person authorizes again; nothing is deleted.
//
// No token, code or secret is in any error or event, nor in any column unencrypted.
//
//	endpoint.go   Notion's authorization address and token endpoint
//	seal.go       encryption
//	tokens.go     the tokens of one connection
//	renew.go      renewing them, one at a time
//	transport.go  a refused request is sent once more with a new token
//	failure.go    refusals in words for people
package oauth
