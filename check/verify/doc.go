// Package verify judges the results of a collective by provenance and by value. Provenance: does
// each element hold each contribution exactly once? Value: is it within the error bound of its type
// and the depth of the reduction? Its input is plain data, rank by rank; package collective defines
// the expected result.
//
// It may import collective, mem, dtype, unit and tl. Start at Check.
package verify
