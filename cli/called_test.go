package cli

import "testing"

func TestCallOf(t *testing.T) {
	for _, c := range []struct{ name, main, module, want string }{
		{"/usr/local/bin/kernbench", "kernbench/cmd/kernbench", "kernbench", "kernbench"},
		{"kernbench", "kernbench/cmd/kernbench", "kernbench", "kernbench"},
		{"./mine", "example.com/mine", "example.com/mine", "./mine"},
		{"/home/ann/.cache/go-build/08/0853-d/mine", "example.com/mine", "example.com/mine", "go run ."},
		{"/tmp/go-build123/b001/exe/kernbench", "kernbench/cmd/kernbench", "kernbench", "go run ./cmd/kernbench"},
		{"/tmp/go-build123/b001/exe/x", "command-line-arguments", "", "go run command-line-arguments"},
	} {
		if got := callOf(c.name, c.main, c.module); got != c.want {
			t.Errorf("%s of %s: %q, want %q", c.name, c.main, got, c.want)
		}
	}
}
