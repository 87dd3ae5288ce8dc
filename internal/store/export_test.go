package store

// Wrap is for tests of what callers are told of errors.
var Wrap = wrap
