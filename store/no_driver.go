//go:build nodb

package store

import (
	"database/sql"
	"errors"
)

// errNoDriver is the error of a program that was built without SQLite.
var errNoDriver = errors.New("this kernbench was built without its database: build it without -tags nodb")

func code(error) (c int, ok bool) { return 0, false }

func attachNone(*sql.Conn) error { return errNoDriver }
