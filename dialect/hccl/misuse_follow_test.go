package hccl_test

import "kernbench/dialect/hccl"

// ready prepares a task with a number of turns, on an object that is ready.
func (m *maker) ready(commit hccl.Release, repeat uint8) hccl.Handle {
	return m.init().reduce(commit, repeat)
}

// scatter prepares blocks a stride apart and awaits all turns.
func (m *maker) scatter(count, stride uint64, repeat uint8) {
	m.init()
	id := m.prepared(m.h.ReduceScatter(hccl.CommitNow, m.send, m.recv, count, hccl.FP32, hccl.ReduceSum, stride, repeat))
	for range repeat {
		m.h.Wait(id)
	}
	m.h.Finalize()
}

// following is mistakes in what comes after Prepare, and between ranks.
var following = []mistake{
	{name: "count", rule: hccl.Mismatch, rank: 1, broken: true, call: "AllReduce(count 11, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, repeat 1)",
		found: "handle 0 of rank 1 is not that of rank 0, " + tenSums + ": the count is 11", right: "all ranks prepare the same tasks",
		kernel: func(m *maker) {
			n := uint64(10)
			m.init()
			if m.h.GetRankID() == 1 {
				n = 11
			}
			m.does(func() { m.h.AllReduce(hccl.CommitNow, m.send, m.recv, n, hccl.FP32, hccl.ReduceSum, 1) })
			m.h.Finalize()
		}},
	{name: "number of tasks", rule: hccl.Mismatch, call: tenSums, deadlock: true,
		found: "rank 1 of group world has prepared 0 tasks, rank 0 1", right: "all ranks prepare the same tasks",
		kernel: func(m *maker) {
			if m.init().h.GetRankID() != 1 {
				m.does(func() { m.h.AllReduce(hccl.CommitNow, m.send, m.recv, 10, hccl.FP32, hccl.ReduceSum, 1) })
			}
			m.h.Finalize()
		}},
	{name: "only on the other core", rule: hccl.CoresDiffer, cores: hccl.Cores{AIV: 2}, block: 1, call: tenSums,
		found: "block 0 (AIV) posts the tasks of this device, and has prepared 0", right: "the one that Config names",
		kernel: func(m *maker) {
			m.init()
			if m.BlockIdx() == 1 {
				m.does(func() { m.h.AllReduce(hccl.CommitNow, m.send, m.recv, 10, hccl.FP32, hccl.ReduceSum, 1) })
			}
			m.SyncAll(hccl.AIVOnly)
			m.h.Finalize()
		}},
	{name: "and waited for", rule: hccl.CoresDiffer, cores: hccl.Cores{AIV: 2}, block: 1, call: tenSums, deadlock: true,
		found: "has prepared 0: this one is never performed", right: "prepare the same",
		kernel: func(m *maker) {
			if m.BlockIdx() == 1 {
				m.init()
				var id hccl.Handle
				m.does(func() { id = m.h.AllReduce(hccl.CommitNow, m.send, m.recv, 10, hccl.FP32, hccl.ReduceSum, 1) })
				m.h.Wait(id)
			}
		}},
	{name: "another one", rule: hccl.CoresDiffer, cores: hccl.Cores{AIV: 2}, block: 1,
		call:  "AllReduce(count 11, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, repeat 1)",
		found: "handle 0 is another task on the core that posts, block 0 (AIV): " + tenSums, right: "prepare the same",
		kernel: func(m *maker) {
			m.init()
			n := uint64(10 + m.BlockIdx())
			m.does(func() { m.h.AllReduce(hccl.CommitNow, m.send, m.recv, n, hccl.FP32, hccl.ReduceSum, 1) })
			m.SyncAll(hccl.AIVOnly)
			m.h.Finalize()
		}},
	{name: "two that post", rule: hccl.WrongCore, cores: hccl.Cores{AIV: 2}, block: 1, call: tenSums,
		found: "block 0 (AIV) posts the tasks of this device", right: "the same Config", returned: "-1",
		kernel: func(m *maker) {
			m.h = m.New(hccl.Config{Server: hccl.OnAIV, Block: m.BlockIdx()})
			m.init()
			if m.BlockIdx() == 0 {
				m.reduce(hccl.CommitNow, 1)
			}
			m.SyncAll(hccl.AIVOnly)
			if m.BlockIdx() == 1 {
				m.refused(m.h.AllReduce(hccl.CommitNow, m.send, m.recv, 10, hccl.FP32, hccl.ReduceSum, 1))
			}
			m.h.Finalize()
		}},
	{name: "what one sends", rule: hccl.Mismatch, call: v("[5 5 6 5]"),
		found: "rank 0 sends 6 elements to rank 2, which expects 5", right: "sendCounts[2] of rank 0 and recvCounts[0] of rank 2",
		kernel: func(m *maker) {
			m.init()
			n := fours(5)
			if m.h.GetRankID() == 0 {
				n[2] = 6
			}
			m.prepared(m.h.AlltoAllV(hccl.CommitNow, m.send, n, fifties, hccl.FP32, m.recv, fours(5), fifties, hccl.FP32, 1))
			m.h.Finalize()
		}},

	{name: "small stride", rule: hccl.StrideLooksLikeRepeat, warning: true,
		call:  "ReduceScatter(recvCount 20, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, strideCount 10, repeat 1)",
		found: "10 elements apart and have 20, so that elements are read twice", right: "the stride comes before repeat",
		kernel: func(m *maker) { m.scatter(20, 10, 1) }},
	{name: "stride", rule: hccl.StrideTooShort, warning: true,
		call:  "ReduceScatter(recvCount 20, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, strideCount 30, repeat 2)",
		found: "30 elements apart, and 2 turns of 20 reach over the next", right: "a stride of at least 40",
		kernel: func(m *maker) { m.scatter(20, 30, 2) }},
	{name: "no stride", rule: hccl.OverlappingDestinations, warning: true,
		call:  "AlltoAll(dataCount 10, HCCL_DATA_TYPE_FP32, strideCount 0, repeat 2)",
		found: "with stride 0 the blocks of two ranks are 10 elements apart, and 2 turns of 10 advance over the next: elements are written twice",
		right: "as strideCount: 20",
		kernel: func(m *maker) {
			m.init()
			m.does(func() { m.h.AlltoAll(hccl.CommitNow, m.send, m.recv, 10, hccl.FP32, 0, 2) })
			m.h.Finalize()
		}},

	{name: "blocks of two turns", rule: hccl.OverlappingDestinations, warning: true,
		call:  "AlltoAllV(sendCounts [5 5 5 5], sdispls [0 50 100 150], HCCL_DATA_TYPE_FP32, recvCounts [5 5 5 5], rdispls [30 20 5 0], HCCL_DATA_TYPE_FP32, repeat 2)",
		found: "what comes from rank 3 in 2 turns overlaps what comes from rank 2: elements are written twice", right: "space for all turns",
		kernel: func(m *maker) {
			m.init()
			m.prepared(m.h.AlltoAllV(hccl.CommitNow, m.send, fours(5), fifties, hccl.FP32, m.recv, fours(5),
				[]uint64{30, 20, 5, 0}, hccl.FP32, 2))
			m.h.Finalize()
		}},
	{name: "one for two", rule: hccl.OverlappingSources, warning: true,
		call:  "AlltoAllV(sendCounts [5 5 5 5], sdispls [9 9 9 9], HCCL_DATA_TYPE_FP32, recvCounts [5 5 5 5], rdispls [0 50 100 150], HCCL_DATA_TYPE_FP32, repeat 1)",
		found: "sent to more than one rank", right: "blocks apart",
		kernel: func(m *maker) {
			m.init()
			m.prepared(m.h.AlltoAllV(hccl.CommitNow, m.send, fours(5), fours(9), hccl.FP32, m.recv, fours(5), fifties, hccl.FP32, 1))
			m.h.Finalize()
		}},
	{name: "negative, committed", rule: hccl.BadHandle, call: "Commit(handle -1)", found: "there is no handle -1",
		right: "0 to 62", returned: "ignored",
		kernel: func(m *maker) { m.init().does(func() { m.h.Commit(hccl.Invalid) }) }},
	{name: "negative, waited for", rule: hccl.BadHandle, call: "Wait(handle -1)", found: "there is no handle -1",
		right: "a Prepare that was refused returns -1", returned: "-1",
		kernel: func(m *maker) { m.init().is(-1, m.h.Wait(-1)) }},
	{name: "too large", rule: hccl.BadHandle, call: "Wait(handle 63)", found: "there is no handle 63", right: "0 to 62", returned: "-1",
		kernel: func(m *maker) { m.init().is(-1, m.h.Wait(63)) }},
	{name: "not prepared", rule: hccl.BadHandle, call: "Query(handle 0)", found: "0 tasks were prepared",
		right: "what a Prepare call returned", returned: "-1",
		kernel: func(m *maker) { m.init().is(-1, m.h.Query(0)) }},
	{name: "smallest", rule: hccl.BadHandle, call: "Query(handle -128)", found: "there is no handle -128", right: "0 to 62", returned: "-1",
		kernel: func(m *maker) { m.init().is(-1, m.h.Query(-128)) }},
	{name: "iterated", rule: hccl.BadHandle, call: "Iterate(handle 7, 1 slices)", found: "0 tasks were prepared",
		right: "Prepare", returned: "0",
		kernel: func(m *maker) { m.init().is(0, m.h.Iterate(hccl.Sources, 7, make([]int, 1))) }},
	{name: "of the other group", rule: hccl.BadHandle, pairs: true, call: "InterHcclGroupSync(group 1, handle -1)",
		found: "there is no handle -1", right: "the other group", returned: "-1",
		kernel: func(m *maker) { m.init().is(-1, m.h.InterHcclGroupSync(1, -1)) }},
	{name: "own", rule: hccl.BadGroup, call: "InterHcclGroupSync(group 0, handle 0)",
		found: "the object is of group 0 of 1", right: "the other", returned: "-1",
		kernel: func(m *maker) { m.init().is(-1, m.h.InterHcclGroupSync(0, 0)) }},
	{name: "unknown", rule: hccl.BadGroup, call: "InterHcclGroupSync(group 2, handle 0)",
		found: "the object is of group 0 of 1", right: "the other", returned: "-1",
		kernel: func(m *maker) { m.init().is(-1, m.h.InterHcclGroupSync(2, 0)) }},
	{name: "without this device", rule: hccl.BadGroup, rank: 2, pairs: true,
		call: "InterHcclGroupSync(group 1, handle 0)", found: "no member of group pair", right: "takes part in", returned: "-1",
		kernel: func(m *maker) {
			if m.init().h.GetRankID() > 1 {
				m.is(-1, m.h.InterHcclGroupSync(1, 0))
			}
		}},
	{name: "negative", rule: hccl.BadRank, call: "GetWindowsInAddr(-1)", found: "there is no rank -1",
		right: "ranks 0 to 3", returned: "null",
		kernel: func(m *maker) { m.init().is(0, int(m.h.GetWindowsInAddr(-1))) }},
	{name: "beyond", rule: hccl.BadRank, call: "GetWindowsOutAddr(4)", found: "there is no rank 4", right: "ranks 0 to 3", returned: "null",
		kernel: func(m *maker) { m.init().is(0, int(m.h.GetWindowsOutAddr(4))) }},
	{name: "group without a window", rule: hccl.NullBuffer, call: "GetWindowsInAddr(3)",
		found: `no window with a buffer "in"`, right: "Options.Window", returned: "null",
		kernel: func(m *maker) { m.init().is(0, int(m.h.GetWindowsInAddr(3))) }},

	{name: "third of two", rule: hccl.CommitTooOften, call: "Commit(handle 0)",
		found: "2 were prepared by AllReduce(count 10", right: "once for each of 2 turns", returned: "ignored",
		kernel: func(m *maker) {
			id := m.ready(hccl.CommitLater, 2)
			m.h.Commit(id)
			m.h.Commit(id)
			m.does(func() { m.h.Commit(id) })
			m.h.Finalize()
		}},
	{name: "of a committed one", rule: hccl.CommitTooOften, call: "Commit(handle 0)", found: "all are committed",
		right: "once for each of 1 turns", returned: "ignored",
		kernel: func(m *maker) {
			id := m.ready(hccl.CommitNow, 1)
			m.does(func() { m.h.Commit(id) })
			m.h.Finalize()
		}},
	{name: "first", rule: hccl.WaitBeforeCommit, call: "Wait(handle 0)", found: "0 turns are committed",
		right: "Commit a turn", returned: "-1",
		kernel: func(m *maker) {
			id := m.ready(hccl.CommitLater, 1)
			m.is(-1, m.h.Wait(id))
			m.h.Commit(id)
			m.h.Finalize()
		}},
	{name: "second", rule: hccl.WaitBeforeCommit, call: "Wait(handle 0)",
		found: "1 turns are committed, and as many were waited for", right: "Commit a turn", returned: "-1",
		kernel: func(m *maker) {
			id := m.ready(hccl.CommitLater, 2)
			m.h.Commit(id)
			m.h.Wait(id)
			m.is(-1, m.h.Wait(id))
			m.h.Commit(id)
			m.h.Finalize()
		}},
	{name: "second of one", rule: hccl.WaitTooOften, call: "Wait(handle 0)",
		found: "1 turns were prepared by AllReduce", right: "once for each of 1 turns", returned: "-1",
		kernel: func(m *maker) {
			id := m.ready(hccl.CommitNow, 1)
			m.h.Wait(id)
			m.is(-1, m.h.Wait(id))
			m.h.Finalize()
		}},
	{name: "last first", rule: hccl.WaitOrder, warning: true, call: "Wait(handle 0)",
		found: "handle 1 was waited for before", right: "in the order of the Prepare calls",
		kernel: func(m *maker) {
			first := m.ready(hccl.CommitNow, 1)
			m.h.Wait(m.reduce(hccl.CommitNow, 1))
			m.is(0, m.h.Wait(first))
			m.h.Finalize()
		}},
	{name: "all-reduce", rule: hccl.BadIterate, call: "Iterate(handle 0, 4 slices)",
		found: "the task is AllReduce(count 10", right: "AlltoAllV with level1:pairwise", returned: "0",
		kernel: func(m *maker) {
			id := m.ready(hccl.CommitNow, 1)
			m.is(0, m.h.Iterate(hccl.Sources, id, make([]int, 4)))
			m.h.Finalize()
		}},
	{name: "few slices", rule: hccl.BadIterate, call: "Iterate(handle 0, 1 slices)", found: "2 ranks come at a time",
		right: "pass slices of at least this length", returned: "0", tile: inTwos,
		kernel: func(m *maker) {
			id := m.init().h.AlltoAllV(hccl.CommitNow, m.send, fours(5), fifties, hccl.FP32, m.recv, fours(5), fifties, hccl.FP32, 1)
			m.is(0, m.h.Iterate(hccl.Sources, id, make([]int, 1)))
			m.h.Finalize()
		}},
	{name: "side", rule: hccl.BadIterate, call: "Iterate(handle 0, 2 slices)", found: "Side(2)",
		right: "Sources, Destinations", returned: "0", tile: inTwos,
		kernel: func(m *maker) {
			id := m.init().h.AlltoAllV(hccl.CommitNow, m.send, fours(5), fifties, hccl.FP32, m.recv, fours(5), fifties, hccl.FP32, 1)
			m.is(0, m.h.Iterate(2, id, make([]int, 2)))
			m.h.Finalize()
		}},

	{name: "none committed", rule: hccl.FinalizeUncommitted, deadlock: true, call: "Finalize()",
		found: "0 of 2 turns of handle 0", right: "commit every turn", returned: "never",
		kernel: func(m *maker) {
			m.ready(hccl.CommitLater, 2)
			m.does(func() { m.h.Finalize() })
		}},
	{name: "wait of another core", rule: hccl.FinalizeBeforeWait, cores: hccl.Cores{AIV: 2}, block: 1, call: "Wait(handle 0)",
		found: "nothing lets it come before Finalize of block 0 (AIV)", right: "call SyncAll on all cores",
		kernel: func(m *maker) {
			id := m.ready(hccl.CommitNow, 1)
			m.SyncAll(hccl.AIVOnly)
			if m.BlockIdx() == 1 {
				m.is(0, m.h.Wait(id))
				return
			}
			m.h.Finalize()
		}},
	{name: "wait", rule: hccl.AfterFinalize, call: "Wait(handle 0)",
		found: "finalised at hccl/misuse_follow_test.go:", right: "before Finalize", returned: "-1",
		kernel: func(m *maker) {
			id := m.ready(hccl.CommitNow, 1)
			m.h.Finalize()
			m.is(-1, m.h.Wait(id))
		}},
	{name: "tiling", rule: hccl.AfterFinalize, call: "SetCcTilingV2(64)", found: "finalised at", right: "before Finalize", returned: "-1",
		kernel: func(m *maker) {
			m.init().h.Finalize()
			m.is(-1, m.h.SetCcTilingV2(m.t.offsets[0]))
		}},
	{name: "prepare", rule: hccl.AfterFinalize, call: tenSums, found: "finalised at", right: "before Finalize", returned: "-1",
		kernel: func(m *maker) {
			m.init().h.Finalize()
			m.refused(m.h.AllReduce(hccl.CommitNow, m.send, m.recv, 10, hccl.FP32, hccl.ReduceSum, 1))
		}},
	{name: "write", rule: hccl.AfterFinalize, call: "BatchWrite(0 items)", found: "finalised at", right: "before Finalize", returned: "-1",
		kernel: func(m *maker) { m.init().h.Finalize(); m.refused(m.h.BatchWrite(nil)) }},
	{name: "commit", rule: hccl.AfterFinalize, call: "Commit(handle 0)", found: "finalised at",
		right: "before Finalize", returned: "ignored",
		kernel: func(m *maker) {
			m.ready(hccl.CommitNow, 1)
			m.h.Finalize()
			m.does(func() { m.h.Commit(0) })
		}},
	{name: "query", rule: hccl.AfterFinalize, call: "Query(handle 0)", found: "finalised at", right: "before Finalize", returned: "-1",
		kernel: func(m *maker) { m.ready(hccl.CommitNow, 1); m.h.Finalize(); m.is(-1, m.h.Query(0)) }},
	{name: "group sync", rule: hccl.AfterFinalize, call: "InterHcclGroupSync(group 1, handle 0)",
		found: "finalised at", right: "before Finalize", returned: "-1",
		kernel: func(m *maker) { m.init().h.Finalize(); m.is(-1, m.h.InterHcclGroupSync(1, 0)) }},
	{name: "finalize", rule: hccl.AfterFinalize, call: "Finalize()", found: "finalised at", right: "call it once",
		kernel: func(m *maker) { m.init().h.Finalize(); m.does(func() { m.h.Finalize() }) }},
	{name: "forgotten", rule: hccl.NoFinalize, warning: true, call: "the end of the kernel",
		found: tenSums + " was prepared, and Finalize was not called", right: "Finalize at the end",
		kernel: func(m *maker) {
			m.init()
			m.h.Wait(m.prepared(m.h.AllReduce(hccl.CommitNow, m.send, m.recv, 10, hccl.FP32, hccl.ReduceSum, 1)))
		}},
}

// inTwos lets an exchange go in two times two steps.
func inTwos(cc *hccl.CcTiling) {
	if cc.OpType() == hccl.OpAlltoAllV {
		cc.SetStepSize(2)
	}
}
