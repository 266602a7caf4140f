package machine

import (
	"embed"
	"slices"
	"strings"
)

//go:embed presets/*.yaml
var presets embed.FS

// Preset is a machine that comes with the program, as a topology.yaml.
type Preset struct {
	Name string
	Doc  string // one line, the first comment of its file
}

// Presets lists the presets by name.
func Presets() []Preset {
	entries, err := presets.ReadDir("presets")
	if err != nil {
		panic(err) // the directory is named in the embed directive above
	}
	var list []Preset
	for _, e := range entries {
		name := strings.TrimSuffix(e.Name(), ".yaml")
		text, _ := PresetSource(name)
		line, _, _ := strings.Cut(string(text), "\n")
		list = append(list, Preset{Name: name, Doc: strings.TrimPrefix(line, "# ")})
	}
	slices.SortFunc(list, func(a, b Preset) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// PresetSource returns the YAML of a preset, to be laid over the built-in topology.yaml, and false
// for an unknown name.
func PresetSource(name string) (yaml []byte, ok bool) {
	yaml, err := presets.ReadFile("presets/" + name + ".yaml")
	return yaml, err == nil
}
