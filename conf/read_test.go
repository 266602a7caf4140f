package conf_test

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"

	"kernbench/conf"
)

// endless is a stream without an end, which counts the bytes read.
type endless int

func (e *endless) Read(p []byte) (int, error) {
	*e += endless(len(p))
	return len(p), nil
}

// TestReadIsBounded: a stream without an end is refused after some bytes, and a device too.
func TestReadIsBounded(t *testing.T) {
	var e endless
	if _, err := conf.ReadAll("pipe", &e); err == nil || !strings.Contains(err.Error(), "pipe: is longer than 16 MiB") {
		t.Errorf("%v, want that it is too long", err)
	}
	if e > 2*endless(conf.MostBytes) {
		t.Errorf("%d bytes were read", e)
	}
	if _, err := os.Stat("/dev/zero"); err != nil {
		t.Skip(err)
	}
	if _, err := conf.ReadFile("/dev/zero"); err == nil {
		t.Error("/dev/zero was read")
	}
}

func TestReadFile(t *testing.T) {
	if data, err := conf.ReadAll("x", strings.NewReader("text")); err != nil || string(data) != "text" {
		t.Errorf("%q, %v", data, err)
	}
	if _, err := conf.ReadFile("none"); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}
