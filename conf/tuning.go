package conf

import (
	"fmt"
	"reflect"
	"strings"
	"sync"

	"kernbench/unit"
)

// Tuning is a tuning table as kernbench tune writes it: the fastest algorithm of each size.
type Tuning struct {
	Tables []TuningTable `conf:"tables" doc:"one table for each machine, collective, number of ranks and type"`

	places places
}

// TuningTable has the rows of one collective, for one number of ranks of one machine.
type TuningTable struct {
	Topology    string      `conf:"topology" doc:"name of the machine, as in --topology"`
	Fingerprint string      `conf:"fingerprint" doc:"fingerprint of the machine; the table is rejected on any other machine"`
	Fidelity    string      `conf:"fidelity" doc:"fidelity of the simulated network" enum:"ideal|slot|flit"`
	Collective  string      `conf:"collective" doc:"the collective"`
	Ranks       int         `conf:"ranks" doc:"number of ranks, on the first PEs of the machine" min:"1" max:"16777216"`
	Type        string      `conf:"type" doc:"element type that was measured"`
	Rows        []TuningRow `conf:"rows" doc:"one row for each range of sizes, smallest first"`
	SimulateTo  unit.Bytes  `conf:"simulate_to" doc:"times of larger sizes were extrapolated from this size and its half, and perf does the same; 0: no size was extrapolated" min:"0"`
}

// TuningRow is the choice from a size on, up to the size of the next row.
type TuningRow struct {
	From unit.Bytes `conf:"from" doc:"smallest size of a call in this row, in bytes" min:"0"`
	Use  string     `conf:"use" doc:"the algorithm, or an entry of ccl.yaml"`
	With Algorithm  `conf:"with" doc:"settings that replace those of the entry"`
	Else []string   `conf:"else" doc:"alternatives if use rejects a call, fastest first"`
}

var tuningSchema = sync.OnceValue(func() *field { return describe(reflect.TypeFor[Tuning](), "") })

// LoadTuning reads a tuning table. The error is an Errors with all mistakes.
func LoadTuning(file Source) (*Tuning, error) {
	t := new(Tuning)
	l := &ledger{places: make(places), failed: make(map[string]bool)}
	data := strings.TrimPrefix(string(file.Data), "\ufeff")
	d := &decoder{text: newText(file.Name, data), ledger: l}
	switch node, err := parse(d.text, data, 0); {
	case err != nil:
		l.add(err)
	case node != nil:
		d.value(node, tuningSchema(), reflect.ValueOf(t).Elem(), "")
	}
	t.places = l.places
	t.check(l, d.text)
	if err := l.errs.err(); err != nil {
		return nil, err
	}
	return t, nil
}

// check finds missing keys, and rows that are not in the order of their sizes.
func (t *Tuning) check(l *ledger, file *text) {
	if len(t.Tables) == 0 && len(l.errs) == 0 {
		l.add(file.at(1, 1, 1).errorf("tables", "there is none; kernbench tune --table FILE writes a file with some"))
	}
	l.checkTables("tables", t.Tables)
}

// checkTables looks for what is missing in tables, the value of a key, and for rows in another
// order than that of their sizes.
func (l *ledger) checkTables(key string, tables []TuningTable) {
	for i := range tables {
		table, at := &tables[i], join(key, fmt.Sprint(i))
		for _, needed := range []struct {
			key     string
			missing bool
		}{
			{"fingerprint", table.Fingerprint == ""}, {"collective", table.Collective == ""}, {"ranks", table.Ranks == 0},
			{"type", table.Type == ""}, {"rows", len(table.Rows) == 0},
		} {
			if path := join(at, needed.key); needed.missing && !l.doubtful(path) {
				l.add(l.places.find(at).errorf(path, "is missing"))
			}
		}
		last := unit.Bytes(-1)
		for k := range table.Rows {
			row, at := &table.Rows[k], join(join(at, "rows"), fmt.Sprint(k))
			switch from := join(at, "from"); {
			case l.doubtful(at) || l.doubtful(from):
			case row.Use == "" && !l.doubtful(join(at, "use")):
				l.add(l.places.find(at).errorf(join(at, "use"), "is missing"))
			case k == 0 && row.From != 0:
				l.add(l.places.find(from).errorf(from, "found %v; the first row is from 0 on", row.From))
			case row.From <= last:
				l.add(l.places.find(from).errorf(from, "found %v after %v; rows are in the order of their sizes", row.From, last))
			}
			last = row.From
		}
	}
}

// Errorf makes an error about key, a dotted path such as "tables.0.type", at the place where it was
// set.
func (t *Tuning) Errorf(key, format string, args ...any) *Error {
	return t.places.find(key).errorf(key, format, args...)
}
