// Package mem defines where bytes are. It has addresses of the memories of a machine, the map from
// virtual to physical addresses, and allocators. It also splits vectors into chunks, and has teams
// of PEs and windows in the memory of each member. It moves no bytes and knows no time.
//
// It may import dtype only. Start at Addr and Window.
package mem
