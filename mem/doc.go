// Package mem knows where bytes are: addresses of the memories of a machine, the map
// from virtual to physical addresses, allocators, and the splitting of vectors into
// shards and chunks. It moves no byte and knows no time.
//
// It imports dtype and unit only. Start at Addr.
package mem
