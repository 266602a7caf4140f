package mscclpp

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// publicPlans returns the folder of plans published by microsoft/mscclpp, which are not part of
// this repository.
func publicPlans(t *testing.T) []string {
	dir := os.Getenv("KERNBENCH_MSCCLPP_PLANS")
	if dir == "" {
		t.Skip("set KERNBENCH_MSCCLPP_PLANS to a folder with the plans of microsoft/mscclpp to read them")
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no plans in %s: %v", dir, err)
	}
	return files
}

func readFile(t *testing.T, path string) (*Plan, error) {
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	return Read(filepath.Base(path), f)
}

func TestPublicPlansAreRead(t *testing.T) {
	for _, path := range publicPlans(t) {
		p, err := readFile(t, path)
		if filepath.Base(path) == "allreduce_pipeline.json" {
			if err == nil || !strings.Contains(err.Error(), `found "buff", want "buffer_type"`) {
				t.Errorf("%s: error %v, want that it is stale", path, err)
			}
			continue
		}
		if err != nil || len(p.Notes) > 0 {
			t.Errorf("%s: %v, notes %v", path, err, p)
		}
	}
}
