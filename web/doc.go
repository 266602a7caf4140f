// Package web serves the page of web/page for runs in files and databases, and starts new ones. It
// listens on this computer only unless it is told otherwise. Requests are bounded, their host is
// checked, every one but for the page itself needs a token, and no path of a request names a file.
//
// It may import web/page, lab/view and packages below that. Start at New.
package web
