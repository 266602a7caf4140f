// Package frontend knows every format of other tools' programs: it finds a file's dialect by its
// content, reads the files of a folder, judges each program for the calls that it allows, and
// searches for the size of call above which it hangs. A new format is a package below this one and
// a row of dialects. The package may import its dialects, judge and plan.
package frontend
