// Package store keeps what was measured, in one SQLite file: runs of kernbench tune, and the points
// that they measured, each found again by a hash of everything that its time depends on. It is the
// only package that speaks SQL, and imports nothing else of kernbench but unit.
//
// A point is committed as soon as it is there, so that a process that is killed loses none that was
// finished. Several processes may use one file at once.
package store
