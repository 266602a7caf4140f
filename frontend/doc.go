// Package frontend reads and judges programs of other tools. It finds the format of a file by its
// content and reads the files of a folder. It judges each program for the calls that it allows. It
// also searches for the size of call above which the program hangs. A new format is a package below
// this one and a row of dialects.
//
// It may import the packages below it, program/text and collective. Start at Find and Judge.
package frontend
