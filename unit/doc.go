// Package unit holds the three quantities that every other package counts in: simulated time in whole
// picoseconds, sizes in bytes, and transfer rates in bytes per second, with their exact parsers and printers.
// What String prints, the parser of the same type reads back to the same value.
// Serial turns a rate into the time that a number of bytes takes on a link, rounded up once and never drifting.
// It stands at the bottom of the house: it imports only the standard library.
package unit
