//go:build !linux

package pages

// Large is for systems that take advice.
func Large[T any](s []T) []T { return s }
