package main

import (
	"os/exec"
	"path/filepath"
	"testing"
)

// BenchmarkStart runs the program from its start to its end: with a run of two ranks that takes
// almost no time, and without any run.
func BenchmarkStart(b *testing.B) {
	program := filepath.Join(b.TempDir(), "kernbench")
	if out, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	for _, c := range []struct {
		name string
		args []string
	}{
		{"run of two ranks", []string{"run", "--ranks", "2", "--n-elem", "1"}},
		{"version", []string{"version"}},
	} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				if out, err := exec.Command(program, c.args...).CombinedOutput(); err != nil {
					b.Fatalf("%v\n%s", err, out)
				}
			}
		})
	}
}
