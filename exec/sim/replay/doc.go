// Package replay computes the times of a recorded program on a simulated machine. Ranks that touch
// only their own memory and receive by direction form a Kahn network: no rank's operations depend
// on the speed of another. A token or a credit is passed on as soon as its time is known. A rank
// proceeds until it needs one whose time is unknown. Only routes that share links need events.
//
// It may import program, hw, machine, des, record/trace, tl and unit. Start at Input and Run.
package replay
