package hccl_test

import (
	"math"

	"kernbench/dialect/hccl"
	"kernbench/mem"
)

const tenSums = "AllReduce(count 10, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, repeat 1)"

// refusedReduce returns an all-reduce that is refused, on an object that is ready.
func refusedReduce(send, recv bool, count uint64, typ hccl.DataType, op hccl.ReduceOp, repeat uint8) func(m *maker) {
	return func(m *maker) {
		m.init()
		var x, y mem.Addr
		if send {
			x = m.send
		}
		if recv {
			y = m.recv
		}
		m.refused(m.h.AllReduce(hccl.CommitNow, x, y, count, typ, op, repeat))
		m.acceptsTask()
	}
}

// acceptsTask prepares a valid task. Its handle is the first, because a refused task has none.
func (m *maker) acceptsTask() {
	if id := m.reduce(hccl.CommitNow, 1); id != 0 {
		m.t.Errorf("the first task that is right has handle %d", id)
	}
	if got := m.h.Wait(0); got != 0 {
		m.t.Errorf("waiting for it returned %d", got)
	}
	m.h.Finalize()
}

// v returns an exchange that sends the given number of elements.
func v(counts string) string {
	return "AlltoAllV(sendCounts " + counts + ", sdispls [0 50 100 150], HCCL_DATA_TYPE_FP32, recvCounts [5 5 5 5], rdispls [0 50 100 150], HCCL_DATA_TYPE_FP32, repeat 1)"
}

// refusedV returns an exchange that is refused for what it sends.
func refusedV(counts, displs []uint64) func(m *maker) {
	return func(m *maker) {
		m.init()
		m.refused(m.h.AlltoAllV(hccl.CommitNow, m.send, counts, displs, hccl.FP32, m.recv, fours(5), fifties, hccl.FP32, 1))
		m.acceptsTask()
	}
}

// refusedItems returns a list that is refused.
func refusedItems(list func(m *maker) []hccl.BatchItem) func(m *maker) {
	return func(m *maker) {
		m.init()
		m.refused(m.h.BatchWrite(list(m)))
		m.acceptsTask()
	}
}

// item is one write.
func item(dst, src func(m *maker) mem.Addr, n uint64, typ hccl.DataType) func(m *maker) []hccl.BatchItem {
	return func(m *maker) []hccl.BatchItem {
		return []hccl.BatchItem{{Dst: dst(m), Src: src(m), Count: n, DataType: typ}}
	}
}

func sendAddr(m *maker) mem.Addr { return m.send }
func recvAddr(m *maker) mem.Addr { return m.recv }
func nowhere(*maker) mem.Addr    { return 0 }

// preparing is mistakes in Prepare calls.
var preparing = []mistake{
	{name: "repeat", rule: hccl.RepeatZero, call: "AllReduce(count 10, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, repeat 0)",
		found: "repeat is 0", right: "1 to 255", returned: "-1",
		kernel: refusedReduce(true, true, 10, hccl.FP32, hccl.ReduceSum, 0)},
	{name: "sendBuf", rule: hccl.NullBuffer, call: tenSums, found: "a buffer is null", right: "addresses", returned: "-1",
		kernel: refusedReduce(false, true, 10, hccl.FP32, hccl.ReduceSum, 1)},
	{name: "recvBuf", rule: hccl.NullBuffer, call: tenSums, found: "a buffer is null", right: "addresses", returned: "-1",
		kernel: refusedReduce(true, false, 10, hccl.FP32, hccl.ReduceSum, 1)},
	{name: "count", rule: hccl.BadCount, call: "AllReduce(count 0, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, repeat 1)",
		found: "the count is 0", right: "at least 1", returned: "-1",
		kernel: refusedReduce(true, true, 0, hccl.FP32, hccl.ReduceSum, 1)},
	{name: "count without end", rule: hccl.BadCount,
		call:  "AllReduce(count 18446744073709551615, HCCL_DATA_TYPE_INT8, HCCL_REDUCE_SUM, repeat 255)",
		found: "there are 18446744073709551615 elements", right: "at most 2147483647", returned: "-1",
		kernel: refusedReduce(true, true, math.MaxUint64, hccl.Int8, hccl.ReduceSum, 255)},
	{name: "long strides", rule: hccl.OutsideBuffer,
		call:  "ReduceScatter(recvCount 1, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, strideCount 41943040, repeat 255)",
		found: "elements 0 to 125829374 from sendBuf on are needed", right: "stride", returned: "-1",
		kernel: func(m *maker) {
			m.init().refused(m.h.ReduceScatter(hccl.CommitNow, m.send, m.recv, 1, hccl.FP32, hccl.ReduceSum, 40<<20, 255))
		}},
	{name: "stride without end", rule: hccl.BadCount,
		call:  "ReduceScatter(recvCount 10, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, strideCount 9223372036854775808, repeat 1)",
		found: "farther than a memory goes", right: "smaller stride", returned: "-1",
		kernel: func(m *maker) {
			m.init()
			m.refused(m.h.ReduceScatter(hccl.CommitNow, m.send, m.recv, 10, hccl.FP32, hccl.ReduceSum, 1<<63, 1))
			m.acceptsTask()
		}},
	{name: "type without number", rule: hccl.BadDataType,
		call:  "AllReduce(count 10, HcclDataType(13), HCCL_REDUCE_SUM, repeat 1)",
		found: "no elements of HcclDataType(13)", right: "HcclDataType", returned: "-1",
		kernel: refusedReduce(true, true, 10, 13, hccl.ReduceSum, 1)},
	{name: "type far off", rule: hccl.BadDataType,
		call: "AllReduce(count 10, HcclDataType(255), HCCL_REDUCE_SUM, repeat 1)", found: "HcclDataType(255)",
		right: "HcclDataType", returned: "-1",
		kernel: refusedReduce(true, true, 10, 255, hccl.ReduceSum, 1)},
	{name: "int128", rule: hccl.BadDataType, call: "AllReduce(count 10, HCCL_DATA_TYPE_INT128, HCCL_REDUCE_SUM, repeat 1)",
		found: "no elements of HCCL_DATA_TYPE_INT128", right: "not supported", returned: "-1",
		kernel: refusedReduce(true, true, 10, hccl.Int128, hccl.ReduceSum, 1)},
	{name: "uint8", rule: hccl.NotReducible, call: "AllReduce(count 10, HCCL_DATA_TYPE_UINT8, HCCL_REDUCE_SUM, repeat 1)",
		found: "HCCL_DATA_TYPE_UINT8 cannot be combined", right: "HCCL_DATA_TYPE_BFP16", returned: "-1",
		kernel: refusedReduce(true, true, 10, hccl.Uint8, hccl.ReduceSum, 1)},
	{name: "fp64", rule: hccl.NotReducible, call: "AllReduce(count 10, HCCL_DATA_TYPE_FP64, HCCL_REDUCE_SUM, repeat 1)",
		found: "cannot be combined", right: "HCCL_DATA_TYPE_FP32", returned: "-1",
		kernel: refusedReduce(true, true, 10, hccl.FP64, hccl.ReduceSum, 1)},
	{name: "product", rule: hccl.BadOp, call: "AllReduce(count 10, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_PROD, repeat 1)",
		found: "do not combine by HCCL_REDUCE_PROD", right: "HCCL_REDUCE_MIN (3)", returned: "-1",
		kernel: refusedReduce(true, true, 10, hccl.FP32, hccl.ReduceProd, 1)},
	{name: "operation without number", rule: hccl.BadOp,
		call: "AllReduce(count 10, HCCL_DATA_TYPE_FP32, HcclReduceOp(4), repeat 1)", found: "HcclReduceOp(4)",
		right: "HCCL_REDUCE_SUM (0)", returned: "-1",
		kernel: refusedReduce(true, true, 10, hccl.FP32, 4, 1)},
	{name: "not that of the tiling", rule: hccl.BadOp,
		call:  "AllReduce(count 10, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_MAX, repeat 1)",
		found: "the tiling has reduce type HCCL_REDUCE_SUM", right: "leave SetReduceType out", returned: "-1",
		tile:   func(cc *hccl.CcTiling) { cc.SetReduceType(hccl.ReduceSum) },
		kernel: refusedReduce(true, true, 10, hccl.FP32, hccl.ReduceMax, 1)},
	{name: "count", rule: hccl.OutsideBuffer,
		call:  "AllReduce(count 301, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, repeat 1)",
		found: "elements 0 to 300 from sendBuf on are needed, and buffer 0 has 300", right: "a larger buffer", returned: "-1",
		kernel: refusedReduce(true, true, 301, hccl.FP32, hccl.ReduceSum, 1)},
	{name: "turns", rule: hccl.OutsideBuffer,
		call:  "AllReduce(count 128, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, repeat 3)",
		found: "elements 0 to 383 from sendBuf on are needed, and buffer 0 has 300", right: "repeat", returned: "-1",
		kernel: refusedReduce(true, true, 128, hccl.FP32, hccl.ReduceSum, 3)},
	{name: "stride", rule: hccl.OutsideBuffer,
		call:  "AlltoAll(dataCount 10, HCCL_DATA_TYPE_FP32, strideCount 100, repeat 1)",
		found: "elements 0 to 309 from sendBuf on", right: "stride", returned: "-1",
		kernel: func(m *maker) {
			m.init()
			m.refused(m.h.AlltoAll(hccl.CommitNow, m.send, m.recv, 10, hccl.FP32, 100, 1))
			m.acceptsTask()
		}},
	{name: "what is received", rule: hccl.OutsideBuffer, call: tenSums,
		found: "elements 0 to 9 from recvBuf on are needed, and buffer 1 has 9 from there on", right: "a larger buffer", returned: "-1",
		kernel: func(m *maker) {
			m.init()
			m.refused(m.h.AllReduce(hccl.CommitNow, m.send, m.recv+4*1191, 10, hccl.FP32, hccl.ReduceSum, 1))
			m.acceptsTask()
		}},
	{name: "displacement", rule: hccl.OutsideBuffer,
		call:  "AlltoAllV(sendCounts [0 1 0 0], sdispls [900 300 0 0], HCCL_DATA_TYPE_FP32, recvCounts [5 5 5 5], rdispls [0 50 100 150], HCCL_DATA_TYPE_FP32, repeat 1)",
		found: "elements 300 to 300 from sendBuf on are needed, and buffer 0 has 300", right: "displacements", returned: "-1",
		kernel: refusedV([]uint64{0, 1, 0, 0}, []uint64{900, 300, 0, 0})},
	{name: "end of a memory", rule: hccl.OutsideBuffer, call: tenSums,
		found: "and the memory of hbm[0]:0xffffffff0 has 4 from there on", right: "a larger buffer", returned: "-1",
		kernel: func(m *maker) {
			m.init()
			m.refused(m.h.AllReduce(hccl.CommitNow, mem.At(mem.HBM, 0, mem.MaxOffset-15), m.recv, 10, hccl.FP32, hccl.ReduceSum, 1))
			m.acceptsTask()
		}},
	{name: "of another type", rule: hccl.TypesDiffer,
		call:  "AllReduce(count 10, HCCL_DATA_TYPE_FP16, HCCL_REDUCE_SUM, repeat 1)",
		found: "sendBuf is in buffer 0, which holds f32, and the task has HCCL_DATA_TYPE_FP16 (the task would be handle 0)",
		right: "the data type of the buffer", returned: "-1",
		kernel: refusedReduce(true, true, 10, hccl.FP16, hccl.ReduceSum, 1)},
	{name: "of another type and the same size", rule: hccl.TypesDiffer,
		call:  "AllReduce(count 10, HCCL_DATA_TYPE_INT32, HCCL_REDUCE_SUM, repeat 1)",
		found: "which holds f32, and the task has HCCL_DATA_TYPE_INT32", right: "the data type of the buffer", returned: "-1",
		kernel: refusedReduce(true, true, 10, hccl.Int32, hccl.ReduceSum, 1)},
	{name: "copies of another size", rule: hccl.TypesDiffer,
		call:  "AlltoAll(dataCount 10, HCCL_DATA_TYPE_FP64, strideCount 0, repeat 1)",
		found: "which holds f32, and the task has HCCL_DATA_TYPE_FP64", right: "the data type of the buffer", returned: "-1",
		kernel: func(m *maker) {
			m.init()
			m.refused(m.h.AlltoAll(hccl.CommitNow, m.send, m.recv, 10, hccl.FP64, 0, 1))
			m.acceptsTask()
		}},
	{name: "sendBuf", rule: hccl.Misaligned, call: tenSums,
		found: "sendBuf is at byte 1 of buffer 0, and elements of HCCL_DATA_TYPE_FP32 have 4 (the task would be handle 0)",
		right: "a multiple of 4 bytes", returned: "-1",
		kernel: func(m *maker) {
			m.init()
			m.refused(m.h.AllReduce(hccl.CommitNow, m.send+1, m.recv, 10, hccl.FP32, hccl.ReduceSum, 1))
			m.acceptsTask()
		}},
	{name: "recvBuf", rule: hccl.Misaligned, call: v("[5 5 5 5]"), found: "recvBuf is at byte 42 of buffer 1",
		right: "a multiple of 4 bytes", returned: "-1",
		kernel: func(m *maker) {
			m.init()
			m.refused(m.h.AlltoAllV(hccl.CommitNow, m.send, fours(5), fifties, hccl.FP32, m.recv+42, fours(5), fifties, hccl.FP32, 1))
			m.acceptsTask()
		}},
	{name: "of no buffer", rule: hccl.Misaligned, call: tenSums,
		found: "sendBuf is at byte 34359738371 of the memory of hbm[0]:0x800000003", right: "a multiple of 4 bytes", returned: "-1",
		kernel: func(m *maker) {
			m.init()
			m.refused(m.h.AllReduce(hccl.CommitNow, mem.At(mem.HBM, 0, 1<<35+3), m.recv, 10, hccl.FP32, hccl.ReduceSum, 1))
			m.acceptsTask()
		}},
	{name: "destination of a write", rule: hccl.Misaligned, call: "BatchWrite(1 items)",
		found: "Dst of item 0 is at byte 2 of buffer 1", right: "a multiple of 4 bytes", returned: "-1",
		kernel: refusedItems(item(func(m *maker) mem.Addr { return m.recv + 2 }, sendAddr, 1, hccl.FP32))},
	{name: "source of a write of another size", rule: hccl.TypesDiffer, call: "BatchWrite(1 items)",
		found: "Src of item 0 is in buffer 0, which holds f32, and the task has HCCL_DATA_TYPE_UINT8",
		right: "the data type", returned: "-1",
		kernel: refusedItems(item(recvAddr, sendAddr, 4, hccl.Uint8))},
	{name: "source of a write", rule: hccl.OutsideBuffer, call: "BatchWrite(1 items)",
		found: "elements 0 to 300 from Src of item 0 on are needed, and buffer 0 has 300", right: "smaller counts", returned: "-1",
		kernel: refusedItems(item(recvAddr, sendAddr, 301, hccl.FP32))},
	{name: "destination of a write", rule: hccl.OutsideBuffer, call: "BatchWrite(1 items)",
		found: "Dst of item 0 on are needed, and buffer 0 has 300", right: "smaller counts", returned: "-1",
		kernel: refusedItems(item(sendAddr, recvAddr, 301, hccl.Uint32))},

	{name: "sendCounts", rule: hccl.NullBuffer, call: v("[]"), found: "sendCounts is null", right: "each of 4 ranks", returned: "-1",
		kernel: refusedV(nil, fifties)},
	{name: "short sendCounts", rule: hccl.BadCount, call: v("[1 2]"), found: "sendCounts has 2 numbers",
		right: "each of 4 ranks", returned: "-1",
		kernel: refusedV([]uint64{1, 2}, fifties)},
	{name: "sendCounts without end", rule: hccl.BadCount, call: v("[1 1 1 18446744073709551615]"),
		found: "18446744073709551615 elements at 150 for rank 3 are more", right: "numbers of elements", returned: "-1",
		kernel: refusedV([]uint64{1, 1, 1, math.MaxUint64}, fifties)},
	{name: "two types", rule: hccl.TypesDiffer,
		call:  "AlltoAllV(sendCounts [5 5 5 5], sdispls [0 50 100 150], HCCL_DATA_TYPE_FP32, recvCounts [5 5 5 5], rdispls [0 50 100 150], HCCL_DATA_TYPE_INT32, repeat 1)",
		found: "HCCL_DATA_TYPE_FP32 is sent, HCCL_DATA_TYPE_INT32 received", right: "the same type", returned: "-1",
		kernel: func(m *maker) {
			m.init()
			m.refused(m.h.AlltoAllV(hccl.CommitNow, m.send, fours(5), fifties, hccl.FP32, m.recv, fours(5), fifties, hccl.Int32, 1))
			m.acceptsTask()
		}},
	{name: "no items", rule: hccl.BadItems, call: "BatchWrite(0 items)", found: "0 items", right: "1 to 2047", returned: "-1",
		kernel: refusedItems(func(*maker) []hccl.BatchItem { return nil })},
	{name: "items", rule: hccl.BadItems, call: "BatchWrite(2048 items)", found: "2048 items", right: "1 to 2047", returned: "-1",
		kernel: refusedItems(func(*maker) []hccl.BatchItem { return make([]hccl.BatchItem, 2048) })},
	{name: "write to nowhere", rule: hccl.NullBuffer, call: "BatchWrite(1 items)",
		found: "an address of item 0 is null", right: "addresses", returned: "-1",
		kernel: refusedItems(item(nowhere, sendAddr, 1, hccl.FP32))},
	{name: "write of nothing", rule: hccl.BadCount, call: "BatchWrite(1 items)", found: "item 0 has 0 elements",
		right: "at least 1", returned: "-1",
		kernel: refusedItems(item(recvAddr, sendAddr, 0, hccl.FP32))},
	{name: "write without end", rule: hccl.BadCount, call: "BatchWrite(1 items)",
		found: "item 0 has 18446744073709551615 elements", right: "no more than a memory", returned: "-1",
		kernel: refusedItems(item(recvAddr, sendAddr, math.MaxUint64, hccl.FP32))},
	{name: "write of what", rule: hccl.BadDataType, call: "BatchWrite(1 items)",
		found: "item 0: tasks have no elements of HCCL_DATA_TYPE_INT128", right: "HcclDataType", returned: "-1",
		kernel: refusedItems(item(recvAddr, sendAddr, 1, hccl.Int128))},

	{name: "64th", rule: hccl.TooManyPrepares, call: tenSums, found: "63 tasks were prepared before", right: "at most 63", returned: "-1",
		kernel: func(m *maker) {
			m.init()
			for want := range hccl.MaxTasks {
				if id := m.reduce(hccl.CommitNow, 1); int(id) != want {
					m.t.Errorf("Prepare %d returned handle %d", want, id)
				}
			}
			m.refused(m.h.AllReduce(hccl.CommitNow, m.send, m.recv, 10, hccl.FP32, hccl.ReduceSum, 1))
			m.h.Finalize()
		}},
	{name: "both types of cores", rule: hccl.WrongCore, cores: hccl.Cores{AIC: 1, AIV: 1}, call: tenSums,
		found: "were prepared on its AIC cores, this is an AIV", right: "one type of core", returned: "-1",
		kernel: func(m *maker) {
			m.init()
			if m.CoreType() == hccl.AIC {
				m.reduce(hccl.CommitNow, 1)
				m.SyncAll(hccl.AllCores)
				m.h.Finalize()
				return
			}
			m.SyncAll(hccl.AllCores)
			m.refused(m.h.AllReduce(hccl.CommitNow, m.send, m.recv, 10, hccl.FP32, hccl.ReduceSum, 1))
		}},
	{name: "type of core that is not there", rule: hccl.WrongCore, call: "InitV2",
		found: "lets an AIC post, and the launch has none", right: "the other type",
		kernel: func(m *maker) {
			m.does(func() { m.New(hccl.Config{Server: hccl.OnAIC}).InitV2(m.HcclContext(0), m.Tiling()) })
		}},
	{name: "core that is not there", rule: hccl.WrongCore, call: "InitV2",
		found: "block 1 of the AIV cores post, and the launch has 1", right: "0 to 0",
		kernel: func(m *maker) {
			m.does(func() { m.New(hccl.Config{Block: 1}).InitV2(m.HcclContext(0), m.Tiling()) })
		}},
	{name: "negative core", rule: hccl.WrongCore, call: "InitV2", found: "block -1 of the AIV cores", right: "0 to 0",
		kernel: func(m *maker) {
			m.does(func() { m.New(hccl.Config{Block: -1}).InitV2(m.HcclContext(0), m.Tiling()) })
		}},
	{name: "server that is not there", rule: hccl.WrongCore, call: "InitV2", found: "Server(3)", right: "DefaultCore, OnAIC, OnAIV",
		kernel: func(m *maker) {
			m.does(func() { m.New(hccl.Config{Server: 3}).InitV2(m.HcclContext(0), m.Tiling()) })
		}},
}
