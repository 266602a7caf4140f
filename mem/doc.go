// Package mem knows where bytes are: addresses of the memories of a machine, the map
// from virtual to physical addresses, allocators, and the splitting of vectors into
// chunks. It moves no byte and knows no time.
//
// It imports the standard library only. Start at Addr.
package mem
