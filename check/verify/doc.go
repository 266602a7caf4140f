// Package verify judges the results of a collective by provenance (does each element hold each
// contribution exactly once?) and by value (is it within the error that its type and the depth
// of the reduction imply?). It gets plain data, rank by rank; package collective defines the
// expected result.
//
// It may import collective, mem, dtype, unit and tl. Start at Check.
package verify
