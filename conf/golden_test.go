package conf

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the golden files in testdata")

// TestGoldenErrors runs each archive in testdata/errors. Its inputs are the files topology.yaml and
// ccl.yaml and the lines of sets. The file want is the text of the errors, or "ok".
func TestGoldenErrors(t *testing.T) {
	names, err := filepath.Glob("testdata/errors/*.txtar")
	if err != nil || len(names) == 0 {
		t.Fatalf("no archives: %v", err)
	}
	for _, name := range names {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			data, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			inputs, want, _ := strings.Cut(string(data), "-- want --\n")
			var topology, ccl []Source
			var sets []string
			for _, f := range sections(inputs) {
				switch base := filepath.Base(f.Name); {
				case f.Name == "sets":
					sets = strings.Split(strings.TrimSuffix(string(f.Data), "\n"), "\n")
				case strings.HasPrefix(base, "topology"):
					topology = append(topology, f)
				case strings.HasPrefix(base, "ccl"):
					ccl = append(ccl, f)
				default:
					t.Fatalf("%s: unknown file %s", name, f.Name)
				}
			}
			got := loadAll(topology, ccl, sets)
			if *update {
				if err := os.WriteFile(name, []byte(inputs+"-- want --\n"+got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// sections cuts an archive at its lines "-- NAME --"; text before the first is a comment.
func sections(archive string) []Source {
	var all []Source
	for line := range strings.Lines(archive) {
		name, marked := strings.CutPrefix(strings.TrimSpace(line), "-- ")
		name, closed := strings.CutSuffix(name, " --")
		switch {
		case marked && closed:
			all = append(all, Source{Name: name})
		case len(all) > 0:
			last := &all[len(all)-1]
			last.Data = append(last.Data, line...)
		}
	}
	return all
}

// loadAll loads as a command does, and returns the printed text.
func loadAll(topology, ccl []Source, sets []string) string {
	var b bytes.Buffer
	topologySets, cclSets, err := SplitSets(sets)
	if err != nil {
		fmt.Fprintln(&b, err)
	}
	if _, err := LoadTopology(topology, topologySets); err != nil {
		fmt.Fprintln(&b, err)
	}
	if _, err := LoadCCL(ccl, cclSets); err != nil {
		fmt.Fprintln(&b, err)
	}
	if b.Len() == 0 {
		return "ok\n"
	}
	return b.String()
}

func TestGoldenSchema(t *testing.T) {
	for _, kind := range []string{"topology", "ccl"} {
		t.Run(kind, func(t *testing.T) {
			got, err := Schema(kind)
			if err != nil {
				t.Fatal(err)
			}
			name := "testdata/" + kind + ".schema.json"
			if *update {
				if err := os.WriteFile(name, got, 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			want, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), string(got)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
	if _, err := Schema("topologies"); err == nil {
		t.Error("unknown kind: no error")
	}
}
