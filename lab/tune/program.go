package tune

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"sync"
)

// Program is the fingerprint of the running program. Programs whose simulated times may differ have
// different fingerprints. A build of an unmodified commit of kernbench has that commit, the same on
// all machines. Any other build has a hash of the executable, with all algorithms linked to it. So
// two builds that differ in one byte have different fingerprints.
var Program = sync.OnceValues(func() (string, error) {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Path == "kernbench" {
		settings := map[string]string{}
		for _, s := range info.Settings {
			settings[s.Key] = s.Value
		}
		if commit := settings["vcs.revision"]; commit != "" && settings["vcs.modified"] == "false" {
			return "commit " + commit[:min(len(commit), 12)], nil
		}
	}
	name, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("cannot identify the running program: %w", err)
	}
	f, err := os.Open(name)
	if err != nil {
		return "", fmt.Errorf("cannot identify the running program: %w", err)
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", fmt.Errorf("cannot identify the running program: %w", err)
	}
	return "build " + hex.EncodeToString(h.Sum(nil)[:6]), nil
})
