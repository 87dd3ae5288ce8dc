//go:build !unix

package files

import "os"

const readFlags = os.O_RDONLY
