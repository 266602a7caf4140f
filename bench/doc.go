// Package bench holds the host programs: each is one file with one row in the registry at
// its foot. A program makes tensors, launches, and says what is worth saying beside the
// figures that every run has; it judges collectives never itself, and other results
// through Host.Expect.
//
// It imports dialect/torch, device and what stands below them. Start at Program and Host.
package bench
