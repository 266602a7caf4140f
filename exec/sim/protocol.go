package sim

import (
	"kernbench/des"
	"kernbench/hw/noc"
	"kernbench/unit"
)

// unseen tells whether what has arrived is yet to be seen by its receiver, and sees to it that it will be: so much later
// as the protocol takes. Nobody is occupied meanwhile, so that messages behind it keep their distance.
func (x *run) unseen(r *rank, user uint32, now unit.Time) bool {
	return x.ring.Protocol.Latency > 0 && x.late(r, user, now)
}

func (x *run) late(r *rank, user uint32, now unit.Time) bool {
	t := &x.xfers[user]
	if t.seen {
		return false
	}
	t.seen = true
	x.e.q.Post(des.Event{Time: now + x.ring.Protocol.Latency, Key: r.laneKey(des.Arrive, laneSeen), Target: noc.Target(kindSeen, user)})
	return true
}

// unseenWord is unseen for the update of a word. All updates from elsewhere are late by the same, atomics too, so that
// those that come the same way take effect in their order. The data of a put do not wait: only its word tells of them.
func (x *run) unseenWord(r *rank, user uint32, now unit.Time) bool {
	return x.ring.Protocol.Latency > 0 && r.peers.at(x.effects[x.xfers[user].side].to).pe != r.seat && x.late(r, user, now)
}
