// Package proc reads what the Linux kernel knows about processes: the processor time that they used and the most memory that
// they held. Elsewhere its functions return errors, and reports leave these figures out.
package proc

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// tick is the unit of processor time in /proc: Linux gives 100 to user space on every architecture.
const tick = 10 * time.Millisecond

// statFrom is the number of the first field behind the command name in /proc/<pid>/stat.
const statFrom = 3

var errForm = errors.New("it has an unknown form")

// CPU gives the processor time of a process and of all below it, those that have ended included where their parent waited
// for them.
func CPU(pid int) (time.Duration, error) {
	root, err := readStat(pid)
	if err != nil {
		return 0, err
	}
	total := root.own + root.waited
	for _, child := range descendants(pid) {
		total += child.own + child.waited
	}
	return total, nil
}

// descendants reads all processes below one. Those that end meanwhile are left out.
func descendants(pid int) []stat {
	children := map[int][]stat{}
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range dirs {
		number, err := strconv.Atoi(filepath.Base(dir))
		if err != nil {
			continue
		}
		if s, err := readStat(number); err == nil {
			children[s.parent] = append(children[s.parent], s)
		}
	}
	var found []stat
	for next := []int{pid}; len(next) > 0; next = next[1:] {
		for _, child := range children[next[0]] {
			found = append(found, child)
			next = append(next, child.pid)
		}
	}
	return found
}

// stat is what is used of /proc/<pid>/stat.
type stat struct {
	pid, parent int
	// own is the process's time, waited that of its children that ended.
	own, waited time.Duration
}

func readStat(pid int) (stat, error) {
	text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return stat{}, fmt.Errorf("read the times of process %d: %w", pid, err)
	}
	// The command name is in parentheses and may hold anything, parentheses included.
	end := bytes.LastIndexByte(text, ')')
	fields := strings.Fields(string(text)[end+1:])
	const parent, userTime, systemTime, waitedUser, waitedSystem = 4, 14, 15, 16, 17
	if end < 0 || len(fields) <= waitedSystem-statFrom {
		return stat{}, fmt.Errorf("read the times of process %d: %w", pid, errForm)
	}
	number := func(field int) int64 {
		n, _ := strconv.ParseInt(fields[field-statFrom], 10, 64)
		return n
	}
	return stat{
		pid: pid, parent: int(number(parent)), own: time.Duration(number(userTime)+number(systemTime)) * tick,
		waited: time.Duration(number(waitedUser)+number(waitedSystem)) * tick,
	}, nil
}

// PeakMemory gives the most resident memory that a process has held so far, in bytes.
func PeakMemory(pid int) (int64, error) {
	return kilobytes(filepath.Join("/proc", strconv.Itoa(pid), "status"), "VmHWM")
}

// TotalMemory gives the machine's memory in bytes.
func TotalMemory() (int64, error) { return kilobytes("/proc/meminfo", "MemTotal") }

// kilobytes reads a line such as "VmHWM:   123 kB".
func kilobytes(path, name string) (int64, error) {
	value, err := field(path, name)
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseInt(strings.TrimSuffix(value, " kB"), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("read %s of %s: %w", name, path, errForm)
	}
	return n << 10, nil
}

// Processor names the machine's processor.
func Processor() (string, error) { return field("/proc/cpuinfo", "model name") }

// field reads the first line "name: value" of a file.
func field(path, name string) (string, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("read %s: %w", name, err)
	}
	for line := range strings.Lines(string(text)) {
		if key, value, found := strings.Cut(line, ":"); found && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value), nil
		}
	}
	return "", fmt.Errorf("read %s of %s: %w", name, path, errForm)
}

// Busy gives the processor time that the whole machine has used since it started, time taken by other guests of its host
// included.
func Busy() (time.Duration, error) {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0, fmt.Errorf("read the times of the machine: %w", err)
	}
	line, _, _ := strings.Cut(string(text), "\n")
	fields := strings.Fields(line) // cpu user nice system idle iowait irq softirq steal …
	const idle, iowait, steal = 4, 5, 8
	if len(fields) <= steal {
		return 0, fmt.Errorf("read the times of the machine: %w", errForm)
	}
	total := int64(0)
	for i, value := range fields[:steal+1] {
		if n, err := strconv.ParseInt(value, 10, 64); err == nil && i != idle && i != iowait {
			total += n
		}
	}
	return time.Duration(total) * tick, nil
}

// Load is the load average of the last minute; 0 where the system doesn't tell.
func Load() float64 {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return 0
	}
	first, _, _ := strings.Cut(string(text), " ")
	load, err := strconv.ParseFloat(first, 64)
	if err != nil {
		return 0
	}
	return load
}
