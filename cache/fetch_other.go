//go:build !amd64 && !arm64

package cache

import "unsafe"

// Fetch is for processors that can be asked.
func Fetch(unsafe.Pointer) {}

// Lines is for processors that can be asked.
func Lines(unsafe.Pointer, int) {}
