//go:build !amd64 && !arm64

package cache

import "unsafe"

// Fetch is for processors that can be asked.
func Fetch(unsafe.Pointer) {}
