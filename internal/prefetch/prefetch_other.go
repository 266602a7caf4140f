//go:build !amd64 && !arm64

package prefetch

import "unsafe"

// Line does nothing.
func Line(unsafe.Pointer) {}

// Lines does nothing.
func Lines(unsafe.Pointer, int) {}
