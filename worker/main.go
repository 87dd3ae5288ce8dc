// Command worker runs loresync's workflows and activities. Any number of them may run side by side; SIGTERM or Ctrl-C lets
// what is under way end, a second one doesn't.
package main

import (
	"os"

	"github.com/loresync/loresync/internal/content/extract"
	"github.com/loresync/loresync/internal/service"
)

func main() {
	extract.ServeChildIfAsked()
	os.Exit(service.Main("worker", service.Worker))
}
