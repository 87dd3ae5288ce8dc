package tests

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/internal/local"
	"github.com/loresync/loresync/internal/testenv"
)

// machinesVariable tells a test that it runs on the machine of the servers, and how the names of its machines begin.
const machinesVariable = "LORESYNC_TEST_MACHINES"

// machinesPrefix begins the names of all machines, before the process that owns them.
const machinesPrefix = "loresync-machines-"

// The addresses of the servers, in networks that are reserved for examples: no machine outside has them. Each server has a switch
// of its own, so that a machine can be cut off from one of them.
var (
	postgresAddress = netip.MustParsePrefix("192.0.2.1/24")
	temporalAddress = netip.MustParsePrefix("198.51.100.1/24")
)

// The switches, by the names of their devices.
const postgresSwitch, temporalSwitch = "postgres", "temporal"

// TestRule12AMachineIsPartitioned gives each process a machine of its own, by the kernel's network namespaces. The test goes on in
// the one of the servers, in a process of its own.
func TestRule12AMachineIsPartitioned(t *testing.T) {
	if testing.Short() {
		t.Skip("machines take their time; `make test-long` waits for them")
	}
	if prefix := os.Getenv(machinesVariable); prefix != "" {
		startServersOfMachines(t)
		partitioned(t, &machines{prefix: prefix})
		return
	}
	t.Parallel()
	m := newMachines(t)
	inside := exec.CommandContext(t.Context(), "ip", "netns", "exec", m.name(serversMachine),
		os.Args[0], "-test.run", "^"+t.Name()+"$", "-test.v", "-test.timeout", "20m")
	inside.Env = append(os.Environ(), machinesVariable+"="+m.prefix)
	said, err := inside.CombinedOutput()
	t.Logf("%s", said)
	require.NoError(t, err)
}

// machines are network namespaces.
type machines struct {
	prefix string
	count  atomic.Int64
}

// serversMachine is the machine of the servers, and of the test.
const serversMachine = 0

// newMachines makes the machine of the servers, with the switches that connect the others. Those of dead tests go first.
func newMachines(t *testing.T) *machines {
	t.Helper()
	sweepMachines(t)
	m := &machines{prefix: fmt.Sprintf("%s%d-", machinesPrefix, os.Getpid())}
	servers := m.name(serversMachine)
	if said, err := exec.CommandContext(t.Context(), "ip", "netns", "add", servers).CombinedOutput(); err != nil {
		t.Skipf("machines can't be made here, which root may on Linux (%v: %s); TestRule12AWorkerIsPartitioned does the same through a proxy", err, said)
	}
	t.Cleanup(func() { removeMachines(t, m.prefix) })
	ip(t, "-n", servers, "link", "set", "lo", "up")
	for device, address := range map[string]netip.Prefix{postgresSwitch: postgresAddress, temporalSwitch: temporalAddress} {
		ip(t, "-n", servers, "link", "add", device, "type", "bridge")
		ip(t, "-n", servers, "address", "add", address.String(), "dev", device)
		ip(t, "-n", servers, "link", "set", device, "up")
	}
	return m
}

func (m *machines) name(n int) string { return m.prefix + strconv.Itoa(n) }

// machine makes another machine, and plugs it into both switches.
func (m *machines) machine(t testing.TB) (name string, postgres, temporal line) {
	t.Helper()
	n := int(m.count.Add(1))
	name = m.name(n)
	ip(t, "netns", "add", name)
	ip(t, "-n", name, "link", "set", "lo", "up")
	return name, m.plug(t, n, postgresSwitch, postgresAddress), m.plug(t, n, temporalSwitch, temporalAddress)
}

// plug is a cable from a machine to a switch.
func (m *machines) plug(t testing.TB, n int, into string, server netip.Prefix) cable {
	t.Helper()
	address := server.Addr()
	for range n {
		address = address.Next()
	}
	c := cable{t: t, servers: m.name(serversMachine), port: fmt.Sprintf("%s%d", into, n), into: into}
	ip(t, "-n", c.servers, "link", "add", c.port, "type", "veth", "peer", "name", into, "netns", m.name(n))
	ip(t, "-n", m.name(n), "address", "add", netip.PrefixFrom(address, server.Bits()).String(), "dev", into)
	ip(t, "-n", m.name(n), "link", "set", into, "up")
	ip(t, "-n", c.servers, "link", "set", c.port, "up")
	c.set(false)
	return c
}

// cable can be pulled out of its switch. Both ends still have a link, and what they send is lost.
type cable struct {
	t                   testing.TB
	servers, port, into string
}

func (c cable) set(cut bool) {
	c.t.Helper()
	plug := []string{"master", c.into}
	if cut {
		plug = []string{"nomaster"}
	}
	ip(c.t, append([]string{"-n", c.servers, "link", "set", c.port}, plug...)...)
}

// stands is not known of a network: what was sent into a cable is sent again by the kernel until it arrives.
func (cable) stands() int { return 1 }

func (m *machines) first(r *rig) (postgres, temporal line) {
	r.t.Helper()
	name, postgres, temporal := m.machine(r.t)
	r.startProgram(on(name, program(r.t, "worker")))
	testenv.Eventually(r.t, patience, func() bool {
		return r.count(`SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'loresync'
			AND client_addr <> inet_server_addr()`) > 0
	}, "the worker is there")
	return postgres, temporal
}

func (m *machines) second(r *rig) {
	r.t.Helper()
	name, _, _ := m.machine(r.t)
	r.startProgram(on(name, program(r.t, "worker")))
}

func (m *machines) entry(r *rig) []string {
	r.t.Helper()
	name, _, _ := m.machine(r.t)
	return on(name).Args
}

// on is a command on a machine.
func on(machine string, command ...string) *exec.Cmd {
	return exec.Command("ip", append([]string{"netns", "exec", machine}, command...)...)
}

func ip(t testing.TB, words ...string) {
	t.Helper()
	said, err := exec.CommandContext(context.WithoutCancel(t.Context()), "ip", words...).CombinedOutput()
	require.NoError(t, err, "ip %s: %s", strings.Join(words, " "), said)
}

// startServersOfMachines starts a Postgres and a Temporal on their machine for all that follows.
func startServersOfMachines(t *testing.T) {
	t.Helper()
	dir, err := os.MkdirTemp("", "loresync-machines-") //nolint:usetesting // the account that runs Postgres can't enter TempDir's parent
	require.NoError(t, err)
	require.NoError(t, os.Chmod(dir, 0o711))
	t.Cleanup(func() { assert.NoError(t, local.RemoveDataDir(context.Background(), dir)) })
	bin, err := filepath.Abs("../.loresync/bin")
	require.NoError(t, err)
	programs, err := local.FindPostgres(t.Context(), local.PostgresSearch{BinDir: bin})
	require.NoError(t, err)
	postgres, err := local.StartPostgres(t.Context(), local.PostgresOptions{
		BinDir: programs, DataDir: filepath.Join(dir, "postgres"), MinimalWAL: true, SharedBuffersMB: 64, Host: postgresAddress.Addr().String(),
	})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, postgres.Stop()) })
	cli, err := local.FindTemporal(t.Context(), local.TemporalSearch{BinDir: bin})
	require.NoError(t, err)
	// Its parts call one another by 127.0.0.1, whatever address it has. Nobody else is on this machine, or on its switches.
	temporal, err := local.StartTemporal(t.Context(), local.TemporalOptions{CLI: cli, DataDir: filepath.Join(dir, "temporal"), InMemory: true, Host: "0.0.0.0"})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, temporal.Stop()) })
	t.Setenv(testenv.DatabaseVariable, postgres.URL("postgres"))
	_, port, err := net.SplitHostPort(temporal.Address())
	require.NoError(t, err)
	t.Setenv(testenv.TemporalVariable, net.JoinHostPort(temporalAddress.Addr().String(), port))
}

// sweepMachines removes machines whose test died.
func sweepMachines(t *testing.T) {
	t.Helper()
	said, err := exec.CommandContext(t.Context(), "ip", "netns", "list").Output()
	if err != nil {
		return // there are none, where they can't be listed
	}
	for line := range strings.Lines(string(said)) {
		rest, ours := strings.CutPrefix(line, machinesPrefix)
		owner, _, _ := strings.Cut(rest, "-")
		if pid, err := strconv.Atoi(owner); ours && err == nil && syscall.Kill(pid, 0) == syscall.ESRCH {
			removeMachines(t, machinesPrefix+owner+"-")
		}
	}
}

// removeMachines removes the machines of one owner, and ends what still runs on them.
func removeMachines(t *testing.T, prefix string) {
	t.Helper()
	ctx := context.WithoutCancel(t.Context())
	said, err := exec.CommandContext(ctx, "ip", "netns", "list").Output()
	require.NoError(t, err)
	for line := range strings.Lines(string(said)) {
		name, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		if !strings.HasPrefix(name, prefix) {
			continue
		}
		running, _ := exec.CommandContext(ctx, "ip", "netns", "pids", name).Output()
		for word := range strings.FieldsSeq(string(running)) {
			if pid, err := strconv.Atoi(word); err == nil {
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
		}
		assert.NoError(t, exec.CommandContext(ctx, "ip", "netns", "delete", name).Run())
	}
}
