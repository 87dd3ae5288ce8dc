// Package clock builds programs whose clock can be wrong, as that of a machine is which no time server corrects. Nothing in the
// programs knows of it: the standard library's time.Now is replaced while they are compiled. What is measured without a
// calendar (timers, time.Since of a reading of the same process) stays right, as it does on such a machine.
package clock

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// variable is the setting of a program that says by how many seconds its clock is wrong.
const variable = "LORESYNC_TEST_CLOCK_OFF"

// Off is the setting that makes a program's clock fast, or slow when it is negative.
func Off(by time.Duration) string {
	return variable + "=" + strconv.Itoa(int(by/time.Second))
}

var errOtherNow = errors.New("this Go's time.Now is not the one that is known here")

// reading is the line of time.Now that is replaced, and wrong what comes in its place.
const (
	reading = "\tsec, nsec, mono := runtimeNow()\n"
	wrong   = "\tsec, nsec, mono := runtimeNow()\n\tsec += off\n"
)

// off is a file beside time.Now.
const off = `package time

import "syscall"

var off = secondsOff()

func secondsOff() int64 {
	text, _ := syscall.Getenv("` + variable + `")
	seconds, _ := atoi(text)
	return int64(seconds)
}
`

// Build compiles programs into a folder, each under its package's name. A program without the setting has the right time.
func Build(ctx context.Context, dir string, packages ...string) error {
	overlay, err := write(ctx, dir)
	if err != nil {
		return err
	}
	args := append([]string{"build", "-overlay", overlay, "-o", dir + string(filepath.Separator)}, packages...)
	said, err := exec.CommandContext(ctx, "go", args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("build %s: %w: %s", strings.Join(packages, " and "), err, said)
	}
	return nil
}

// write puts the replaced files beside the programs, and says to the compiler where they belong.
func write(ctx context.Context, dir string) (overlay string, err error) {
	root, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
	if err != nil {
		return "", fmt.Errorf("find Go: %w", err)
	}
	library := filepath.Join(strings.TrimSpace(string(root)), "src", "time")
	text, err := os.ReadFile(filepath.Join(library, "time.go"))
	if err != nil {
		return "", err
	}
	if strings.Count(string(text), reading) != 1 {
		return "", errOtherNow
	}
	replaced := map[string]string{}
	for name, text := range map[string]string{"time.go": strings.Replace(string(text), reading, wrong, 1), "off.go": off} {
		replaced[filepath.Join(library, name)] = filepath.Join(dir, name)
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			return "", err
		}
	}
	list, err := json.Marshal(map[string]any{"Replace": replaced})
	if err != nil {
		return "", err
	}
	overlay = filepath.Join(dir, "overlay.json")
	return overlay, os.WriteFile(overlay, list, 0o600)
}
