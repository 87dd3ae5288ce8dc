// Package telemetry is what a process says about itself: its log, its Prometheus registry, and the bridge that brings the
// Temporal SDK's own figures into that registry. It knows no other room; whoever has figures passes them in.
package telemetry
