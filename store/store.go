package store

import (
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"strings"
	"time"
)

// Store is an open file.
type Store struct {
	db   *sql.DB
	file string
	tidy bool // Close removes the files next to the database: it was opened to read, by no other process
}

// Open opens a file to read and to write. It creates the file if there is none.
func Open(file string) (*Store, error) {
	s, err := open(file, "rwc")
	if err != nil {
		return nil, err
	}
	if err := s.prepare(); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// OpenToRead opens an existing file. No query changes it.
func OpenToRead(file string) (*Store, error) {
	if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: there is no such file: kernbench tune --db %[1]s creates it", file)
	} else if err != nil {
		return nil, err
	}
	_, shmErr := os.Stat(file + "-shm")
	s, err := open(file, "ro")
	if err != nil {
		return nil, err
	}
	s.tidy = errors.Is(shmErr, fs.ErrNotExist)
	_, err = s.check(s.db)
	if err == nil {
		return s, nil
	}
	if wal, serr := os.Stat(file + "-wal"); !cannotShare(err) || serr == nil && wal.Size() > 0 {
		return nil, errors.Join(err, s.Close())
	}
	// The folder may be read-only. Then no process writes the database, and no file is needed
	// next to it.
	if err := s.Close(); err != nil {
		return nil, err
	}
	if s, err = open(file, "immutable"); err != nil {
		return nil, err
	}
	if _, err = s.check(s.db); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// cannotShare reports whether a database cannot be read because a file next to it cannot be
// created.
func cannotShare(err error) bool {
	c, ok := code(err)
	return ok && (c == readOnly || c == cannotOpen)
}

// notADatabase and the codes below are primary result codes of SQLite.
const notADatabase, busy, cannotOpen, readOnly, logicError, inputOutput = 26, 5, 14, 8, 1, 10

// open connects to a file. A process that finds it locked waits: others hold it only while they
// write a point.
func open(file, mode string) (*Store, error) {
	if file == "" {
		return nil, errors.New("a database needs a file name")
	}
	if errNoDriver != nil {
		return nil, errNoDriver
	}
	name := url.URL{Scheme: "file", Opaque: (&url.URL{Path: file}).EscapedPath()}
	q := url.Values{"mode": {mode}, "_pragma": {fmt.Sprintf("busy_timeout(%d)", mostWait.Milliseconds())}, "_txlock": {"immediate"}}
	switch mode {
	case "ro":
	case "immutable":
		q["mode"], q["immutable"] = []string{"ro"}, []string{"1"}
	default:
		q["_pragma"] = append(q["_pragma"], "journal_mode(WAL)", "synchronous(NORMAL)", "foreign_keys(1)")
	}
	name.RawQuery = q.Encode()
	db, err := sql.Open("sqlite", name.String())
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1) // of this process: writers of one file wait for each other anyway
	return &Store{db: db, file: file}, nil
}

// prepare makes the tables of a new file.
func (s *Store) prepare() error {
	tx, err := s.begin()
	if err != nil {
		return s.explain(err)
	}
	defer tx.Rollback() // changes nothing that was committed
	fresh, err := s.check(tx)
	if err != nil || !fresh {
		return err
	}
	if _, err := tx.Exec(fmt.Sprintf("%s; PRAGMA application_id = %d; PRAGMA user_version = %d", schema, appID, version)); err != nil {
		return s.explain(err)
	}
	return s.explain(tx.Commit())
}

// mostWait is the longest time that SQLite, and begin, wait for other processes.
const mostWait = time.Minute

// begin begins the first transaction. SQLite does not wait when two processes switch one file to a
// log of writes (WAL) at once. Each has read the file, and neither can continue before the other
// gives up.
func (s *Store) begin() (tx *sql.Tx, err error) {
	for start := time.Now(); ; time.Sleep(5 * time.Millisecond) {
		tx, err = s.db.Begin()
		if c, ok := code(err); !ok || c != busy || time.Since(start) > mostWait {
			return tx, err
		}
	}
}

// asker is a database or a transaction.
type asker interface {
	QueryRow(query string, args ...any) *sql.Row
}

// check reports whether a file is empty. It refuses the file of another program or of a later
// version.
func (s *Store) check(db asker) (fresh bool, err error) {
	var app, has, tables int64
	for query, to := range map[string]*int64{
		"PRAGMA application_id": &app, "PRAGMA user_version": &has, "SELECT count(*) FROM sqlite_master": &tables,
	} {
		if err := db.QueryRow(query).Scan(to); err != nil {
			return false, s.explain(err)
		}
	}
	switch {
	case app == 0 && has == 0 && tables == 0:
		return true, nil
	case app != appID:
		return false, fmt.Errorf("%s: is a database of another program: name another file with --db", s.file)
	case has > version:
		return false, fmt.Errorf("%s: was written by a newer kernbench: found version %d, want 1 to %d",
			s.file, has, version)
	}
	return false, nil
}

// explain adds the file to an error of the database, and a remedy for the usual errors.
func (s *Store) explain(err error) error {
	if err == nil {
		return nil
	}
	if c, ok := code(err); ok {
		text := sentence(err.Error())
		switch c {
		case notADatabase:
			text = "this file is not a results database: name another with --db"
		case busy:
			text = "another process has held it for a minute"
		case cannotOpen:
			text = "cannot be opened: check that its folder exists and is writable"
		case readOnly:
			text = "only reading is allowed"
		case inputOutput:
			text = "cannot be read or written here: is the disk full, or the folder read-only?"
		case logicError:
			if text += " (the tables and their columns are in docs/tune.md)"; strings.HasPrefix(text, "too many attached databases") {
				text = "a query cannot open or create other files"
			}
		}
		return &explained{s.file + ": " + text, err}
	}
	if strings.HasPrefix(err.Error(), s.file) {
		return err
	}
	return fmt.Errorf("%s: %w", s.file, err)
}

// explained is an error of SQLite with a text for the user.
type explained struct {
	text string
	err  error
}

func (e *explained) Unwrap() error { return e.err }
func (e *explained) Error() string { return e.text }

// sentence returns the text of an error of SQLite without its codes.
func sentence(text string) string {
	text = strings.TrimPrefix(text, "SQL logic error: ")
	if i := strings.LastIndex(text, " ("); i > 0 && strings.HasSuffix(text, ")") {
		text = text[:i]
	}
	return text
}

// Close closes the file.
func (s *Store) Close() error {
	if err := s.db.Close(); err != nil || !s.tidy {
		return s.explain(err)
	}
	// A reader creates files next to a database and may not remove them. A writer that is the last
	// to close it does.
	if w, err := open(s.file, "rw"); err == nil {
		w.check(w.db) // opens the file; what it finds was found before
		w.db.Close()  // the files do no harm if they have to stay
	}
	return nil
}
