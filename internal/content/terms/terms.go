// Package terms turns text into the tokens of the full-text index and of the
// lexical embedding, the same way for a document and for a query.
//
// European text gives its words, lower-cased, compatibility-folded (NFKC) and
// cut to a light English stem. Han, Hiragana, Katakana and Hangul, which say
// little or nothing about where a word ends, give overlapping pairs of
// characters. Pairs rather than the words of a dictionary (kagome): a dictionary
// takes some 200 MB in every process that indexes or searches, where a worker has
// 250 MB in all, and it may cut a query differently from the sentence that the
// query was taken from. Pairs find every substring, at the price of a larger
// index.
//
// Tokens consist of letters, digits and marks only. They are meant to be stored
// as they are (array_to_tsvector): a text parser would cut them anew.
package terms

import "slices"

// maxQueryTerms bounds a query, and with it the work that a pasted page gives
// the index.
const maxQueryTerms = 64

// Document returns the tokens of a document in order, with repetitions.
//
// Beside the pairs it holds every Han character by itself: one is a word often
// enough, and a query of one character has no pair to look for.
func Document(s string) []string {
	tokens := make([]string, 0, 8+len(s)/5)
	for token := range All(s) {
		tokens = append(tokens, token)
	}
	return tokens
}

// Query returns the distinct tokens to look for, in order and at most 64: each
// is one that Document finds in any text that holds the query as whole words.
// English words without a meaning of their own are left out, unless nothing else
// is asked for.
func Query(s string) []string {
	var tokens, stopped []string
	for token, kind := range All(s) {
		switch kind {
		case Char:
		case Stop:
			stopped = appendNew(stopped, token)
		case Word, Pair:
			tokens = appendNew(tokens, token)
		}
		if len(tokens) == maxQueryTerms {
			break
		}
	}
	if len(tokens) == 0 {
		return stopped
	}
	return tokens
}

func appendNew(list []string, token string) []string {
	if slices.Contains(list, token) {
		return list
	}
	return append(list, token)
}
