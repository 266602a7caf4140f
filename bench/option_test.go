package bench_test

import (
	"context"
	"strings"
	"testing"

	"kernbench/bench"
)

var chooses = bench.Register(bench.Program{
	Name: "test_chooses",
	Options: []bench.Option{
		{Name: "test-way", Default: "near", Help: "where to", Words: []string{"near", "far"}},
		{Name: "test-steps", Kind: bench.Number, Default: "3", Help: "how many", Min: 2, Max: 8},
		{Name: "test-open", Kind: bench.Number, Default: "0", Help: "no bound"},
		{Name: "test-turn", Kind: bench.Switch, Default: "true", Help: "turns"},
		{Name: "test-block", Kind: bench.Extents, Default: "4x2", Help: "extents"},
	},
	Run: func(context.Context, *bench.Host) error { return nil },
})

func TestOptions(t *testing.T) {
	h := host(t, chooses, bench.Options{With: map[string]string{"test-steps": "8", "test-turn": "0", "test-block": "7x1"}}, nil)
	rows, cols := h.Extents("test-block")
	if h.Word("test-way") != "near" || h.Number("test-steps") != 8 || h.Switch("test-turn") || rows != 7 ||
		cols != 1 || h.Number("test-open") != 0 {
		t.Errorf("%s %d %v %dx%d", h.Word("test-way"), h.Number("test-steps"), h.Switch("test-turn"), rows, cols)
	}
	if h.Chosen("test-way") || !h.Chosen("test-steps") {
		t.Error("what was chosen does not differ from defaults")
	}
}

func TestBadOptions(t *testing.T) {
	for _, tt := range []struct{ name, value, want string }{
		{"test-way", "nearr", `did you mean "near"?`},
		{"test-way", "sideways", "want one of near, far"},
		{"test-steps", "1", "a number from 2 to 8"},
		{"test-steps", "9", "a number from 2 to 8"},
		{"test-steps", "3.5", "a number from 2 to 8"},
		{"test-open", "2147483648", "a number from 0 to 2147483647"},
		{"test-open", "-1", "a number from 0"},
		{"test-turn", "maybe", "true or false"},
		{"test-block", "4", "such as 256x64"},
		{"test-block", "0x4", "each at least 1"},
		{"test-block", "4x4x4", "such as 256x64"},
		{"test-block", "4x9999999999", "such as 256x64"},
		{"test-stepz", "3", "did you mean --test-steps?"},
		{"zzz", "3", "bench test_chooses has no option --zzz, but --test-way, --test-steps"},
	} {
		err := chooses.Execute(context.Background(), host(t, chooses, bench.Options{With: map[string]string{tt.name: tt.value}}, nil))
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("--%s %s: got %v, want %q", tt.name, tt.value, err, tt.want)
		}
	}
	err := bench.CCLHello.CheckOptions(map[string]string{"test-way": "near"})
	if err == nil || !strings.Contains(err.Error(), "bench ccl_hello has no option --test-way: test_chooses has it") {
		t.Errorf("an option of another bench: %v", err)
	}
}

func TestRegisterPanicsOnBadOptions(t *testing.T) {
	for name, options := range map[string][]bench.Option{
		"a default that it cannot have": {{Name: "a", Kind: bench.Number, Default: "x"}},
		"no name":                       {{Default: "true", Kind: bench.Switch}},
		"one name twice": {{Name: "a", Default: "true", Kind: bench.Switch},
			{Name: "a", Default: "1x1", Kind: bench.Extents}},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s was registered", name)
				}
			}()
			bench.Register(bench.Program{Name: "test_defect", Options: options, Run: chooses.Run})
		}()
	}
}
