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

// Program is the fingerprint of the running program, in which two that may come to different times
// differ. Built from a commit of kernbench with nothing beside it, it is that commit: the same on all
// machines. Else it is a hash of the executable, with all algorithms that somebody has linked to it;
// every build that differs by a byte then counts as another.
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
		return "", fmt.Errorf("which program measures: %w", err)
	}
	f, err := os.Open(name)
	if err != nil {
		return "", fmt.Errorf("which program measures: %w", err)
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", fmt.Errorf("which program measures: %w", err)
	}
	return "build " + hex.EncodeToString(h.Sum(nil)[:6]), nil
})
