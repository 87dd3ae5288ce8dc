// Command gateway answers HTTP: health, readiness, metrics, a status page and the webhooks of sources. Any number of them may
// run side by side; SIGTERM or Ctrl-C lets answers under way end, a second one doesn't.
package main

import (
	"os"

	"github.com/loresync/loresync/internal/service"
)

func main() { os.Exit(service.Main("gateway", service.Gateway)) }
