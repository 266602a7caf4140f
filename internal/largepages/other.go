//go:build !linux || (!amd64 && !arm64)

package largepages

const supported = false

func advise([]byte) {}
