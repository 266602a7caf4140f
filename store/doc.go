// Package store keeps measurements in one SQLite file: the runs of kernbench tune and their points.
// A point is found by a hash of everything that its time depends on. It is committed as soon as it
// is measured, so a killed process loses no finished point. Several processes may use one file at
// once. No other package uses SQL.
//
// It may import unit and the SQLite driver.
package store
