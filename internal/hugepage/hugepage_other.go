//go:build !linux

package hugepage

// Slice returns the slice.
func Slice[T any](s []T) []T { return s }
