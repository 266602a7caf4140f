// Package page is the page that draws documents of lab/view: modules of JavaScript with canvas, a
// style, and no library. Write puts all of it and one document into one HTML file, which needs no
// other file and no network. The viewer serves the same modules as files.
//
// It may import the standard library only. Start at Write.
package page
