package conf

import (
	"fmt"
	"io"
	"os"

	"kernbench/unit"
)

// MostBytes is the longest file that is read: longer than every description, table or trace that a
// person or a program writes for kernbench.
const MostBytes = 16 * unit.MiB

// ReadFile reads a file of at most MostBytes. It stops reading there, whatever the file is: a
// device or a pipe may have no end.
func ReadFile(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return ReadAll(name, f)
}

// ReadAll reads what is called name to its end, as ReadFile does.
func ReadAll(name string, r io.Reader) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, int64(MostBytes)+1))
	if err == nil && len(data) > int(MostBytes) {
		err = fmt.Errorf("%s: is longer than %v: a file of kernbench is expected", name, MostBytes)
	}
	if err != nil {
		return nil, err
	}
	return data, nil
}
