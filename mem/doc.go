// Package mem knows where bytes are: addresses of the memories of a machine, the map from
// virtual to physical addresses, allocators, the splitting of vectors into chunks, teams of
// PEs, and windows in the memory of each member. It moves no bytes and knows no time.
//
// It may import dtype only. Start at Addr and Window.
package mem
