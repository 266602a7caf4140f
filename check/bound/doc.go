// Package bound says how fast a collective could be on a machine: lower limits of its simulated
// time that no algorithm beats, each with a witness, the two nodes, the links or the channel that
// it comes from. What must move is taken from the meaning of the collective, what can move from
// the machine's directed graph of links.
//
// A limit holds for every kernel in the model of docs/model.md, whatever it sends, puts, gets or
// loads, in messages or engines of any kind. So it counts only what the model never gives away:
//
//   - contributions start in, and results end in, the HBM slices of the ranks, through their ports;
//   - what leaves or enters a PE's tile passes its link to the router, and every link carries its
//     rate and no more; data may go any way that the links allow, also through other memories;
//   - no link or switch combines or copies data. The vector units of the ranks combine, at most a
//     lane's pair of elements per clock, and so do their memories, what is put into them;
//   - elements travel in their own type.
//
// There is no limit of the hardware by fan-out (LogP's), although an instruction costs its issue: a
// rank can load what is elsewhere by itself, so that one instruction of each informs all. Who works
// on rings alone has that limit, those of slots and vector units, and along a chain or a tree one of
// its pieces: all of these are of an algorithm as it is configured.
//
// It imports machine, hw/memory, collective, conf, mem, tl and unit. Start at New.
package bound
