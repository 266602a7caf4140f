// Package unit holds three quantities that every other package uses. These are simulated time in
// whole picoseconds, sizes in bytes, and transfer rates in bytes per second. Their parsers and
// printers are exact: String and the parser are inverse. Serial returns the time that a number of
// bytes takes on a link, rounded up once.
//
// It may import the standard library only.
package unit
