package store

// appID marks a file as one of kernbench, in SQLite's application_id: "kben".
const appID = 0x6b62656e

// version is the version of the schema, in SQLite's user_version. A change of the schema raises it
// and converts older files.
const version = 1

// schema makes the tables that docs/tune.md describes.
const schema = `
CREATE TABLE run (
	id       INTEGER PRIMARY KEY,
	started  TEXT NOT NULL,
	finished TEXT,
	command  TEXT NOT NULL,
	program  TEXT NOT NULL
) STRICT;

CREATE TABLE point (
	key            TEXT PRIMARY KEY,
	program        TEXT NOT NULL,
	topology       TEXT NOT NULL,
	machine        TEXT NOT NULL,
	fingerprint    TEXT NOT NULL,
	fidelity       TEXT NOT NULL,
	collective     TEXT NOT NULL,
	algorithm      TEXT NOT NULL,
	settings       TEXT NOT NULL,
	type           TEXT NOT NULL,
	op             TEXT NOT NULL,
	root           INTEGER NOT NULL,
	ranks          INTEGER NOT NULL,
	size           INTEGER NOT NULL,
	elems          INTEGER NOT NULL,
	in_place       INTEGER NOT NULL,
	time_ps        INTEGER,
	messages       INTEGER NOT NULL,
	events         INTEGER NOT NULL,
	error          TEXT NOT NULL,
	estimated      INTEGER NOT NULL,
	estimate_error REAL
) STRICT, WITHOUT ROWID;

CREATE TABLE run_point (
	run INTEGER NOT NULL REFERENCES run(id),
	key TEXT NOT NULL REFERENCES point(key),
	PRIMARY KEY (run, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE bound (
	key              TEXT PRIMARY KEY REFERENCES point(key),
	hardware_ps      INTEGER NOT NULL,
	hardware_limit   TEXT NOT NULL,
	configured_ps    INTEGER NOT NULL,
	configured_limit TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE verdict (
	key       TEXT PRIMARY KEY,
	program   TEXT NOT NULL,
	algorithm TEXT NOT NULL,
	ranks     INTEGER NOT NULL,
	elems     INTEGER NOT NULL,
	wrong     TEXT NOT NULL
) STRICT, WITHOUT ROWID;
`
