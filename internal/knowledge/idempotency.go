package knowledge

// IdempotencyKey is a caller's word for one request, under which it may be repeated without being carried out twice.
type IdempotencyKey struct {
	// Scope is whose key it is: callers don't meet at equal ones.
	Scope, Key string
	// Claim names one attempt to carry the request out.
	Claim string
	// Fingerprint tells requests apart.
	Fingerprint string
}

// KeptAnswer is what a request was answered.
type KeptAnswer struct {
	Fingerprint string
	// Status is the HTTP status; 0 while the request is being carried out.
	Status int
	// Body is the answer, byte by byte.
	Body string
	// Location is where what it made is; empty when it made nothing.
	Location string
}
