// Package cli is the command line: flags in, tables out, one file per verb. A program outside
// the repository registers its algorithms and calls Main, which gives it every verb for them.
//
// It may import the packages of lab, report, selfbench, frontend, and the registries that it
// lists. Start at Main.
package cli
