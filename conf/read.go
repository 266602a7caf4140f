package conf

import (
	"fmt"
	"io"
	"os"

	"kernbench/unit"
)

// MostBytes is the size of the longest file that is read. Descriptions, tables and traces for
// kernbench are shorter.
const MostBytes = 16 * unit.MiB

// ReadFile reads a file of at most MostBytes. It stops reading there, because a device or a pipe
// may have no end.
func ReadFile(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return ReadAll(name, f)
}

// ReadAll reads r to its end, with the limit of ReadFile. name is for errors.
func ReadAll(name string, r io.Reader) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, int64(MostBytes)+1))
	if err == nil && len(data) > int(MostBytes) {
		err = fmt.Errorf("%s: is longer than %v: want a file of kernbench", name, MostBytes)
	}
	if err != nil {
		return nil, err
	}
	return data, nil
}
