// Package local finds, installs, starts and ends the two servers that a single machine runs for loresync: Temporal's
// development server and a private Postgres cluster. `dev` and the tests stand on it; production brings its own servers
// and never comes here.
//
// Three promises hold for both servers:
//
//   - They listen on 127.0.0.1 only, on a port that was free, and write their output to a log file in their data
//     directory.
//   - They don't outlive their owner. An orderly Stop ends them; on Linux the kernel ends them when the owner is killed;
//     and whatever still runs after that is recognised and ended by the next start on the same data directory.
//   - One data directory has one owner. A second start while the first owner lives is an InUseError that names its
//     process; two data directories side by side don't know of each other.
package local
