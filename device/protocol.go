package device

import (
	"kernbench/conf"
	"kernbench/tl"
)

// protocolOf is a protocol as executors take it. A credit is a flag and nothing else, written without a fence and found by
// polling whatever the protocol of the data is: it is seen as soon as a message of ll.
func protocolOf(s *conf.Software, name string) tl.Protocol {
	p := s.Protocol(name)
	return tl.Protocol{Latency: p.Latency, Credit: s.Protocols.LL.Latency, Payload: p.Payload()}
}
