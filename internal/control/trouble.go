package control

import (
	"context"
	"errors"
	"fmt"

	"go.temporal.io/api/serviceerror"
)

var errNoTemporal = errors.New("no Temporal client was given")

// temporalTrouble makes an error for people of what Temporal's client gives. Whatever isn't a clear word of the server
// means that it couldn't be reached.
func temporalTrouble(doing string, err error) error {
	var (
		known     *Error
		invalid   *serviceerror.InvalidArgument
		namespace *serviceerror.NamespaceNotFound
		denied    *serviceerror.PermissionDenied
	)
	switch {
	case err == nil || errors.As(err, &known) || errors.Is(err, context.Canceled):
		return err
	case errors.As(err, &namespace):
		return &Error{
			Kind: KindUnreachable, Code: "namespace_unknown", Err: err,
			Sentence: "Temporal has no namespace " + namespace.Namespace + ": check TEMPORAL_NAMESPACE, or register it",
		}
	case errors.As(err, &invalid):
		return &Error{Kind: KindUsage, Code: "temporal_refused", Err: err, Sentence: "Temporal did not accept this: " + invalid.Message}
	case errors.As(err, &denied):
		return &Error{
			Kind: KindRefused, Code: "temporal_denied", Err: err,
			Sentence: "Temporal does not permit this: check the credentials in the TEMPORAL_ settings",
		}
	}
	return unreachable(fmt.Errorf("%s: %w", doing, err))
}
