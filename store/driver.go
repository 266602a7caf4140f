//go:build !nodb

package store

import (
	"database/sql"
	"errors"

	"modernc.org/sqlite" // the driver
)

// errNoDriver is the error of a program without SQLite: see no_driver.go.
var errNoDriver error

// code returns the code of an error of SQLite, without what is added to it.
func code(err error) (c int, ok bool) {
	e, ok := errors.AsType[*sqlite.Error](err)
	if !ok {
		return 0, false
	}
	return e.Code() & 0xff, true
}

// attachNone keeps a connection from opening further files.
func attachNone(conn *sql.Conn) error {
	const attached = 7 // SQLITE_LIMIT_ATTACHED
	_, err := sqlite.Limit(conn, attached, 0)
	return err
}
