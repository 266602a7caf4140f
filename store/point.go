package store

import (
	"database/sql"
	"errors"

	"kernbench/unit"
)

// Point is one call of one algorithm on one machine, and what it took.
type Point struct {
	Key     string `json:"key"`     // a hash of everything that the time depends on
	Program string `json:"program"` // fingerprint of the kernbench that measured it

	Topology    string `json:"topology"`    // as it was named: a preset or a file
	Machine     string `json:"machine"`     // in words
	Fingerprint string `json:"fingerprint"` // of the machine's description
	Fidelity    string `json:"fidelity"`

	Collective string     `json:"collective"`
	Algorithm  string     `json:"algorithm"`
	Settings   string     `json:"settings"` // settings that replace configured ones, such as "n_slots=8 slot_size=16384"; "": none
	Type       string     `json:"type"`
	Op         string     `json:"op"`   // none where nothing is reduced
	Root       int        `json:"root"` // -1 where there is none
	Ranks      int        `json:"ranks"`
	Size       unit.Bytes `json:"size"`  // the most that a rank brings or ends with
	Elems      int        `json:"elems"` // elements of each rank
	InPlace    bool       `json:"in_place"`

	Time     unit.Time `json:"time_ps"`
	Messages int64     `json:"messages"`
	Events   int64     `json:"events"` // of the simulation: what it cost
	Error    string    `json:"error"`  // why it failed; then there is no time

	Estimated     bool     `json:"estimated"`      // from smaller sizes, not measured
	EstimateError *float64 `json:"estimate_error"` // of the same estimate at the largest measured size, relative; nil: unknown

	Bound *Bound `json:"bound"` // nil: not requested
}

// Bound is the shortest possible time of the call of a point.
type Bound struct {
	Hardware        unit.Time `json:"hardware_ps"` // whatever the rings
	HardwareLimit   string    `json:"hardware_limit"`
	Configured      unit.Time `json:"configured_ps"` // with the rings of the point's algorithm
	ConfiguredLimit string    `json:"configured_limit"`
}

const pointColumns = `p.key, p.program, p.topology, p.machine, p.fingerprint, p.fidelity, p.collective, p.algorithm, p.settings,
	p.type, p.op, p.root, p.ranks, p.size, p.elems, p.in_place, p.time_ps, p.messages, p.events, p.error, p.estimated, p.estimate_error,
	b.hardware_ps, b.hardware_limit, b.configured_ps, b.configured_limit`

// Put commits a point as one of a run. A point that is there already stays as it is.
func (s *Store) Put(run int64, p *Point) error {
	tx, err := s.db.Begin()
	if err != nil {
		return s.explain(err)
	}
	defer tx.Rollback() // changes nothing that was committed
	var time any
	if p.Error == "" {
		time = int64(p.Time)
	}
	if _, err := tx.Exec(`INSERT OR IGNORE INTO point VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		p.Key, p.Program, p.Topology, p.Machine, p.Fingerprint, p.Fidelity, p.Collective, p.Algorithm, p.Settings,
		p.Type, p.Op, p.Root, p.Ranks, int64(p.Size), p.Elems, p.InPlace, time, p.Messages, p.Events, p.Error,
		p.Estimated, p.EstimateError); err != nil {
		return s.explain(err)
	}
	if _, err := tx.Exec("INSERT OR IGNORE INTO run_point VALUES (?, ?)", run, p.Key); err != nil {
		return s.explain(err)
	}
	return s.explain(tx.Commit())
}

// PutBound stores the bound of a point.
func (s *Store) PutBound(key string, b *Bound) error {
	_, err := s.db.Exec("INSERT OR IGNORE INTO bound VALUES (?, ?, ?, ?, ?)", key, int64(b.Hardware), b.HardwareLimit,
		int64(b.Configured), b.ConfiguredLimit)
	return s.explain(err)
}

// Find returns the point with a key, nil if there is none, and makes it one of a run.
func (s *Store) Find(run int64, key string) (*Point, error) {
	points, err := s.points("WHERE p.key = ?", key)
	if err != nil || len(points) == 0 {
		return nil, err
	}
	_, err = s.db.Exec("INSERT OR IGNORE INTO run_point VALUES (?, ?)", run, key)
	return &points[0], s.explain(err)
}

// Points lists the points of a run: by machine, collective, ranks, type, size, algorithm and
// settings.
func (s *Store) Points(run int64) ([]Point, error) {
	return s.points("JOIN run_point r ON r.key = p.key WHERE r.run = ? "+order, run)
}

// AllPoints lists every point, in the order of Points.
func (s *Store) AllPoints() ([]Point, error) { return s.points(order) }

const order = `ORDER BY p.topology, p.fingerprint, p.fidelity, p.collective, p.ranks, p.type, p.op, p.root, p.size, p.algorithm, p.settings, p.in_place, p.key`

func (s *Store) points(where string, args ...any) ([]Point, error) {
	rows, err := s.db.Query("SELECT "+pointColumns+" FROM point p LEFT JOIN bound b ON b.key = p.key "+where, args...)
	if err != nil {
		return nil, s.explain(err)
	}
	defer rows.Close()
	var all []Point
	for rows.Next() {
		var p Point
		var time, hardware, configured sql.NullInt64
		var off sql.NullFloat64
		var byHardware, byConfigured sql.NullString
		if err := rows.Scan(&p.Key, &p.Program, &p.Topology, &p.Machine, &p.Fingerprint, &p.Fidelity, &p.Collective,
			&p.Algorithm, &p.Settings,
			&p.Type, &p.Op, &p.Root, &p.Ranks, &p.Size, &p.Elems, &p.InPlace, &time, &p.Messages, &p.Events, &p.Error, &p.Estimated, &off,
			&hardware, &byHardware, &configured, &byConfigured); err != nil {
			return nil, s.explain(err)
		}
		p.Time = unit.Time(time.Int64)
		if off.Valid {
			p.EstimateError = &off.Float64
		}
		if hardware.Valid {
			p.Bound = &Bound{unit.Time(hardware.Int64), byHardware.String, unit.Time(configured.Int64), byConfigured.String}
		}
		all = append(all, p)
	}
	return all, s.explain(rows.Err())
}

// PutVerdict stores what was found wrong with an algorithm; "" means that it is right.
func (s *Store) PutVerdict(key, program, algorithm string, ranks, elems int, wrong string) error {
	_, err := s.db.Exec("INSERT OR IGNORE INTO verdict VALUES (?, ?, ?, ?, ?, ?)", key, program, algorithm, ranks, elems, wrong)
	return s.explain(err)
}

// Verdict returns what was found wrong with an algorithm, and whether it was checked.
func (s *Store) Verdict(key string) (wrong string, known bool, err error) {
	err = s.db.QueryRow("SELECT wrong FROM verdict WHERE key = ?", key).Scan(&wrong)
	if errors.Is(err, sql.ErrNoRows) {
		return "", false, nil
	}
	return wrong, err == nil, s.explain(err)
}
