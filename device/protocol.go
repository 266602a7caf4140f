package device

import (
	"kernbench/conf"
	"kernbench/tl"
)

// protocolOf is a protocol as executors take it. A credit is a flag and nothing else, written
// without a fence and found by polling whatever the protocol of the data is: it is seen as soon as
// a message of ll.
func protocolOf(t *conf.Topology, name string) tl.Protocol {
	p := t.Software().Protocol(name)
	return tl.Protocol{Latency: t.Latencies(name), Credit: t.Latencies("ll"), Payload: p.Payload()}
}
