package conf

import (
	"reflect"
	"strings"
)

// Resolved is one algorithm with all its settings: those of its entry over the defaults.
type Resolved struct {
	Name     string
	Module   string // the algorithm in the library
	Topology string // empty: the algorithm's own
	W, H     int    // 0, 0: a square
	RootCube int
	Settings

	places places
}

// Resolve returns the entry of that name merged onto the defaults; the name "" means
// defaults.algorithm.
func (c *CCL) Resolve(name string) (Resolved, error) {
	key, at := "algorithm", place{}
	if name == "" {
		name, key = c.values.Defaults.Algorithm, "defaults.algorithm"
		at = c.places.find(key)
	}
	if c.values.Algorithms[name] == nil {
		return Resolved{}, at.errorf(key, "found %q, which is no entry of ccl.yaml; %s", name, didYouMean(name, c.Names()))
	}
	return c.Merge(name), nil
}

// Merge returns the entry of that name merged onto the defaults, or the defaults if there is none.
// Algorithms of the library need no entry if the defaults suit them.
func (c *CCL) Merge(name string) Resolved {
	entry := c.values.Algorithms[name]
	if entry == nil {
		entry = new(Algorithm)
	}
	r := Resolved{
		Name: name, Module: entry.Module, Topology: entry.Topology,
		W: entry.W, H: entry.H, RootCube: entry.RootCube,
		Settings: c.values.Defaults, places: c.places,
	}
	if i := strings.LastIndexByte(r.Module, '.'); i >= 0 {
		r.Module = r.Module[i+1:]
	}
	if r.Module == "" {
		r.Module = name
	}
	r.Settings.Algorithm = name
	from, to := reflect.ValueOf(entry).Elem(), reflect.ValueOf(&r.Settings).Elem()
	for i := range from.NumField() {
		if override := from.Field(i); override.Kind() == reflect.Pointer && !override.IsNil() {
			to.FieldByName(from.Type().Field(i).Name).Set(override.Elem())
		}
	}
	return r
}

// Errorf makes an error about one of the settings, such as "n_slots". Its place is where the
// setting was made: in the algorithm's entry, or else in the defaults.
func (r *Resolved) Errorf(setting, format string, args ...any) *Error {
	key := join(join("algorithms", r.Name), setting)
	if _, own := r.places[key]; !own {
		if _, fallback := r.places[join("defaults", setting)]; fallback {
			key = join("defaults", setting)
		}
	}
	return r.places.find(key).errorf(key, format, args...)
}

// Beyond returns an entry with those settings that the algorithm has otherwise in another
// configuration, but for sizes of calls.
func (r *Resolved) Beyond(other *Resolved) *Algorithm {
	a := &Algorithm{}
	if r.W != other.W || r.H != other.H {
		a.W, a.H = r.W, r.H
	}
	if r.RootCube != other.RootCube {
		a.RootCube = r.RootCube
	}
	if r.Topology != other.Topology {
		a.Topology = r.Topology
	}
	mine, theirs := reflect.ValueOf(r.Settings), reflect.ValueOf(other.Settings)
	to := reflect.ValueOf(a).Elem()
	for i := range to.NumField() {
		name := to.Type().Field(i).Name
		if to.Field(i).Kind() != reflect.Pointer || name == "WorldSize" || name == "NElem" {
			continue
		}
		if v := mine.FieldByName(name); !v.Equal(theirs.FieldByName(name)) {
			own := reflect.New(v.Type())
			own.Elem().Set(v)
			to.Field(i).Set(own)
		}
	}
	return a
}
