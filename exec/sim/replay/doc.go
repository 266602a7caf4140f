// Package replay finds the times of a recorded program on a simulated machine. Ranks that touch
// only their own memory and receive by direction form a Kahn network: what each does depends on
// no other, so a token or a credit is handed over as soon as its time is known, and a rank goes
// on until it needs one that is not. Events remain where routes share links.
//
// It imports program, hw, machine, des, trace and tl. Start at Input and Run.
package replay
