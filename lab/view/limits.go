package view

// Limits of a document, so that a page of 256 ranks stays below 3 MB.
const (
	maxBins      = 2000   // of a time line
	maxSpans     = 60_000 // single spans of all lanes together
	maxPath      = 20_000 // spans of the critical path
	maxLanes     = 512
	maxLinks     = 256
	maxIntervals = 250 // of time, of a link's queue
	maxWaits     = 10_000
	maxRows      = 200 // of a table of resources
	maxSource    = 256 << 10
	contextLines = 12 // of source before and after a line that has time
	maxTableRows = 5_000
	maxFact      = 4 << 10 // bytes of a text
)
