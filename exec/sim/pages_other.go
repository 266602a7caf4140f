//go:build !linux

package sim

// inLargePages is for systems that take advice.
func inLargePages[T any](s []T) []T { return s }
