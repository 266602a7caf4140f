package selfbench

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"runtime"
	"strconv"
	"strings"
)

// Machine is the computer that measured.
type Machine struct {
	CPU    string `json:"cpu"` // model; empty where unknown
	Cores  int    `json:"cores"`
	Memory int64  `json:"memory_bytes,omitempty"`
	OS     string `json:"os"`
	Arch   string `json:"arch"`
	Go     string `json:"go"`
}

// fingerprint identifies a computer by its description.
func (m *Machine) fingerprint() string {
	text, err := json.Marshal(m)
	if err != nil {
		panic(err) // words and numbers have a JSON form
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}

// thisMachine describes the computer on which kernbench runs.
func thisMachine() Machine {
	m := Machine{Cores: runtime.NumCPU(), OS: runtime.GOOS, Arch: runtime.GOARCH, Go: runtime.Version()}
	m.CPU = valueIn("/proc/cpuinfo", "model name")
	if kib, ok := strings.CutSuffix(valueIn("/proc/meminfo", "MemTotal"), " kB"); ok {
		n, _ := strconv.ParseInt(kib, 10, 64) // else it is left out
		m.Memory = n << 10
	}
	return m
}

// valueIn returns the first value of a name in a file of lines "name: value"; empty if there is
// none.
func valueIn(file, name string) string {
	text, err := os.ReadFile(file)
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(text)) {
		if key, value, found := strings.Cut(line, ":"); found && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return ""
}
