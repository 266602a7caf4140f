// Package cli is the command line: flags in, tables out, one file per verb, and no logic
// of its own. A program outside the repository registers its algorithms and then calls
// Main, which gives it every verb for them.
//
// It imports lab and report, and the registries that it lists. Start at Main.
package cli
