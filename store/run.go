package store

import (
	"database/sql"
	"fmt"
	"time"
)

// Run is one sweep.
type Run struct {
	ID       int64     `json:"id"`
	Started  time.Time `json:"started"`
	Finished time.Time `json:"finished,omitzero"` // zero: it was stopped, or still runs
	Command  string    `json:"command"`
	Program  string    `json:"program"` // fingerprint of the kernbench that measured

	Points      int    `json:"points"` // points that it measured or found
	Topologies  string `json:"topologies"`
	Collectives string `json:"collectives"`
	Fidelity    string `json:"fidelity"`
}

// Begin records that a run begins, and returns its number.
func (s *Store) Begin(r Run) (int64, error) {
	res, err := s.db.Exec("INSERT INTO run (started, command, program) VALUES (?, ?, ?)", stamp(r.Started), r.Command, r.Program)
	if err != nil {
		return 0, s.explain(err)
	}
	id, err := res.LastInsertId()
	return id, s.explain(err)
}

// Finish records that a run ended.
func (s *Store) Finish(id int64, at time.Time) error {
	_, err := s.db.Exec("UPDATE run SET finished = ? WHERE id = ?", stamp(at), id)
	return s.explain(err)
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// Runs lists all runs by number.
func (s *Store) Runs() ([]Run, error) {
	rows, err := s.db.Query(`
		SELECT run.id, started, finished, command, run.program, count(point.key),
			coalesce(group_concat(DISTINCT topology), ''), coalesce(group_concat(DISTINCT collective), ''), coalesce(group_concat(DISTINCT fidelity), '')
		FROM run LEFT JOIN run_point ON run_point.run = run.id LEFT JOIN point ON point.key = run_point.key
		GROUP BY run.id ORDER BY run.id`)
	if err != nil {
		return nil, s.explain(err)
	}
	defer rows.Close()
	all := []Run{}
	for rows.Next() {
		var r Run
		var started string
		var finished sql.NullString
		if err := rows.Scan(&r.ID, &started, &finished, &r.Command, &r.Program, &r.Points, &r.Topologies,
			&r.Collectives, &r.Fidelity); err != nil {
			return nil, s.explain(err)
		}
		if r.Started, err = time.Parse(time.RFC3339, started); err == nil && finished.Valid {
			r.Finished, err = time.Parse(time.RFC3339, finished.String)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: run %d: %w", s.file, r.ID, err)
		}
		all = append(all, r)
	}
	return all, s.explain(rows.Err())
}

// Run returns the run with a number.
func (s *Store) Run(id int64) (*Run, error) {
	all, err := s.Runs()
	if err != nil {
		return nil, err
	}
	for i := range all {
		if all[i].ID == id {
			return &all[i], nil
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s has no runs: kernbench tune adds one", s.file)
	}
	return nil, fmt.Errorf("%s: there is no run %d: the runs are %d to %d", s.file, id, all[0].ID, all[len(all)-1].ID)
}
