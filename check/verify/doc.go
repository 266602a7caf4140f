// Package verify judges what a collective left behind: by provenance (does each element
// hold each contribution exactly once?) and by value (is it within the error that its
// type and the depth of the reduction imply?). It is given plain data, rank by rank, and
// asks package collective what should be there.
//
// It imports collective, mem, dtype, unit and tl only. Start at Check.
package verify
