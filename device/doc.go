// Package device is the API of host programs. It has a Context with one current SIP, tensors
// sharded over the PEs of a SIP, and virtual addresses that are contiguous over shards. It also has
// teams with symmetric windows, launches, and streams. Mistakes of a program are errors, never
// panics.
//
// It may import exec, algorithm, topology, machine, conf, record, collective, tl, fault, mem,
// dtype and unit, but no executor. Start at New, Context.Zeros, Context.NewWindow and
// Context.NewStream.
package device
