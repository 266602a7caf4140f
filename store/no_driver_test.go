//go:build nodb

package store

import (
	"path/filepath"
	"strings"
	"testing"
)

// Without SQLite a database is refused, with what to do.
func TestNoDriver(t *testing.T) {
	file := filepath.Join(t.TempDir(), "x.db")
	if _, err := Open(file); err == nil || !strings.Contains(err.Error(), "build it without -tags nodb") {
		t.Errorf("got %v", err)
	}
}
