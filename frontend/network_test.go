package frontend

import (
	"strings"
	"testing"
)

// A channel between hosts holds twice as many messages, so calls of a larger size end.
func TestChannelsOverANetwork(t *testing.T) {
	s := exchange(8, "Simple", "")
	near, far := Judge(s, Options{}), Judge(s, Options{Host: 1})
	if near.Hang == nil || far.Hang == nil || far.Hang.Ends <= near.Hang.Ends {
		t.Fatalf("one host: %v; two hosts: %v; want larger calls to end", near.Hang, far.Hang)
	}
	if text := far.Depths.String(); !strings.Contains(text, "all channels go over the network and hold 4") {
		t.Errorf("depths: %s", text)
	}
	if both := Judge(s, Options{Host: 2}); both.Hang.Ends != near.Hang.Ends {
		t.Errorf("both ranks on a host: %v, want %v", both.Hang, near.Hang)
	}
}
