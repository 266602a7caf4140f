// Package device is what a host program holds: a Context with one current SIP, tensors
// sharded over the PEs of a SIP by a DPPolicy, virtual addresses that are contiguous over
// shards, teams with symmetric windows, launches, the plan of an algorithm's rings, and
// streams of work that is done side by side. What a program does wrong is an error, never a
// panic.
//
// It imports algorithm, topology, machine, conf, oplog, collective, tl, fault, mem, dtype and
// unit; an executor reaches it as a value. Start at New, Context.Zeros, Context.NewWindow and
// Context.NewStream.
package device
