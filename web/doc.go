// Package web serves the page of web/page for runs in files and databases, and starts new ones. It
// listens on this computer only by default. Requests are bounded and their host is checked. Every
// request but the one for the page needs a token, and no path of a request names a file.
//
// It may import web/page, lab/view and packages below that. Start at New.
package web
