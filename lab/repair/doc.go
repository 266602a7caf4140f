// Package repair finds out what lets a run end that has deadlocked or left messages behind: the least
// number of ring slots, and small edits of the kernel, each of which applies to a source line in all
// iterations and on all ranks. Every repair is carried out before it is reported, at this and at two
// other numbers of ranks.
//
// It imports lab/run, tl and fault. Start at Search.
package repair
