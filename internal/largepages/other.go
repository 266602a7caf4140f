//go:build !linux || (!amd64 && !arm64)

package largepages

func available() int { return 0 }

func advise([]byte) {}
