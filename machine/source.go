package machine

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"kernbench/conf"
)

// ReadSource reads the description of a machine by name: a preset or a file. No name is no source,
// which is the built-in machine.
func ReadSource(name string) ([]conf.Source, error) {
	if name == "" {
		return nil, nil
	}
	if data, ok := PresetSource(name); ok {
		return []conf.Source{{Name: "preset " + name, Data: data}}, nil
	}
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		return nil, fmt.Errorf("%s is a folder, want a topology.yaml file or a preset", name)
	}
	data, err := conf.ReadFile(name)
	if err == nil {
		return []conf.Source{{Name: name, Data: data}}, nil
	}
	if strings.ContainsAny(name, "./\\") {
		return nil, err
	}
	presets := presetNames()
	near := conf.Nearest(name, presets)
	if near == "" { // a name that one preset begins with
		if i := slices.IndexFunc(presets, func(p string) bool { return strings.HasPrefix(p, name+"-") }); i >= 0 {
			near = presets[i]
		}
	}
	if near != "" {
		return nil, fmt.Errorf("%w, and no preset of that name; did you mean %q?", err, near)
	}
	return nil, fmt.Errorf("%w, and no preset of that name; presets are %s", err, strings.Join(presets, ", "))
}

func presetNames() []string {
	var names []string
	for _, p := range Presets() {
		names = append(names, p.Name)
	}
	return names
}
