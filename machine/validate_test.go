package machine

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// Every mistake of a file is reported with its place, and the next file is read all the same. An
// interruption keeps the finished results.
func TestValidateTopology(t *testing.T) {
	text := "system:\n  sips: {cuont: 4}\nfabric:\n  buffer_bytes: 16\n  message_bytes: many\n"
	all, err := Validate(context.Background(), []string{"-", "ahbm", "nowhere"}, nil, strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	if len(all) != 3 || all[0].OK || !all[1].OK || all[1].Machine == "" || all[2].OK {
		t.Fatalf("%+v", all)
	}
	var places []string
	for _, f := range all[0].Faults {
		places = append(places, fmt.Sprintf("%s:%d:%d %s", f.File, f.Line, f.Column, f.Key))
	}
	want := []string{"<stdin>:2:10 system.sips.cuont", "<stdin>:5:18 fabric.message_bytes"}
	if !slices.Equal(places, want) {
		t.Errorf("%q, want %q", places, want)
	}
	if f := all[2].Faults; len(f) != 1 || f[0].Line != 0 || !strings.Contains(f[0].Message, "no preset of that name") {
		t.Errorf("%+v", f)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if all, err := Validate(ctx, []string{"ahbm"}, nil, nil); err == nil || all == nil || len(all) != 0 {
		t.Errorf("%v, %v after an interruption", all, err)
	}
	if _, err := Validate(context.Background(), []string{"ahbm"}, []string{"defaults.n_slots=1"}, nil); err == nil {
		t.Error("keys of ccl.yaml are no error")
	}
}

// What only the built machine shows has a place in the file, too.
func TestValidateBuilds(t *testing.T) {
	text := "system:\n  sips: {count: 3}\n  levels:\n    - {network: full, count: 70000, link: {bw_gbs: 50}}\n"
	all, err := Validate(context.Background(), []string{"-"}, nil, strings.NewReader(text))
	if err != nil || len(all[0].Faults) == 0 || all[0].Faults[0].Line == 0 {
		t.Fatalf("%+v, %v", all, err)
	}
}
