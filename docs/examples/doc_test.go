// Package examples holds the programs that the author's guide shows, each compiled and run
// by a test. A region from a line "// guide: NAME" to the line "// end" may stand, as it is,
// in a go block of the guide; guide_test.go checks that nothing else does.
//
// It consists of tests, so it may import whatever a user's program may.
package examples
