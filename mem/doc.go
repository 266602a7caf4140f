// Package mem knows where bytes are: addresses of the memories of a machine, the map
// from virtual to physical addresses, allocators, the splitting of vectors into chunks,
// teams of PEs and the windows that lie in the memory of each member. It moves no byte and
// knows no time.
//
// It imports dtype only. Start at Addr, and at Window.
package mem
