package conf

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"strings"
)

// With returns the configuration with further settings of one algorithm, each KEY=VALUE, as if its
// entry had them.
func (c *CCL) With(algorithm string, settings []string) (*CCL, error) {
	with := &CCL{library{c.values.Defaults, maps.Clone(c.values.Algorithms)}, maps.Clone(c.places)}
	if own := c.Entry(algorithm); own != nil {
		with.values.Algorithms[algorithm] = own
	}
	l := &ledger{places: with.places, failed: make(map[string]bool)}
	for _, s := range settings {
		d := &decoder{ledger: l}
		d.set(cclSchema(), reflect.ValueOf(&with.values).Elem(), "algorithms."+algorithm+"."+s)
	}
	with.check(l)
	if err := l.errs.err(); err != nil {
		return nil, err
	}
	return with, nil
}

// Set is a setting that an entry has, as With takes it.
type Set struct {
	Key, Value string
}

// Sets lists the settings of an entry, in the order of its keys.
func (a *Algorithm) Sets() []Set {
	var all []Set
	v := reflect.ValueOf(a).Elem()
	for _, f := range cclSchema().child("algorithms").elem.fields {
		x := v.Field(f.index)
		if x.IsZero() {
			continue
		}
		if f.optional {
			x = x.Elem()
		}
		text := fmt.Sprint(x.Interface())
		switch {
		case x.IsZero() && f.zero != "":
			text = f.zero
		case f.kind == kindBytes:
			text = strings.ReplaceAll(text, " ", "")
		case f.kind == kindTime: // to the picosecond
			text = fmt.Sprintf("%dps", x.Int())
		}
		all = append(all, Set{f.key, text})
	}
	return all
}

// Fingerprint identifies a machine. Two machines that differ in any key on which a time depends
// have different fingerprints.
func (t *Topology) Fingerprint() string {
	data, err := json.Marshal(&t.values)
	if err != nil {
		panic(err) // numbers, words and lists of them have a JSON form
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:8])
}
