package hccl_test

import (
	"slices"
	"strings"
	"testing"

	"kernbench/dialect/hccl"
)

// init initialises the object, with the tilings of all operations.
func (m *maker) init() *maker {
	m.h.InitV2(m.HcclContext(0), m.Tiling())
	for _, at := range m.t.offsets[:len(tiledOps)] {
		m.h.SetCcTilingV2(at)
	}
	return m
}

// settingUp is mistakes before the first task.
var settingUp = []mistake{
	{name: "no context", rule: hccl.NoContext, call: "InitV2", found: "there is no context", right: "Kernel.HcclContext",
		kernel: func(m *maker) { m.does(func() { m.h.InitV2(hccl.HcclContext{}, m.Tiling()) }) }},
	{name: "not a member", rule: hccl.NoContext, pairs: true, rank: 2, call: "InitV2",
		found: "no member of group pair", right: "on members only",
		kernel: func(m *maker) { m.does(func() { m.h.InitV2(m.HcclContext(1), m.Tiling()) }) }},
	{name: "context of no group", rule: hccl.TooManyGroups, call: "InitV2", found: "there is no context 1",
		right:  "1 groups: contexts 0 to 0",
		kernel: func(m *maker) { m.does(func() { m.h.InitV2(m.HcclContext(1), m.Tiling()) }) }},
	{name: "negative context", rule: hccl.TooManyGroups, call: "InitV2", found: "there is no context -1", right: "contexts 0 to 0",
		kernel: func(m *maker) { m.does(func() { m.h.InitV2(m.HcclContext(-1), m.Tiling()) }) }},
	{name: "object twice", rule: hccl.InitTwice, call: "InitV2", found: "initialised before", right: "one object for each group",
		kernel: func(m *maker) { m.init(); m.does(func() { m.h.InitV2(m.HcclContext(0), m.Tiling()) }) }},
	{name: "context twice", rule: hccl.InitTwice, call: "InitV2", found: "context 0 has initialised another object",
		right: "cannot initialise two",
		kernel: func(m *maker) {
			m.init()
			m.does(func() { m.New(hccl.Config{}).InitV2(m.HcclContext(0), m.Tiling()) })
		}},
	{name: "no tiling", rule: hccl.BadTiling, call: "InitV2", found: "not the tiling of the launch", right: "Kernel.Tiling",
		kernel: func(m *maker) { m.does(func() { m.h.InitV2(m.HcclContext(0), nil) }) }},
	{name: "another tiling", rule: hccl.BadTiling, call: "InitV2", found: "not the tiling of the launch", right: "Kernel.Tiling",
		kernel: func(m *maker) { m.does(func() { m.h.InitV2(m.HcclContext(0), m.t.other) }) }},
	{name: "offset of nothing", rule: hccl.BadTiling, call: "SetCcTilingV2(65)", found: "no cc tiling at that offset",
		right: "they lie at [64 344", returned: "-1",
		kernel: func(m *maker) { m.init(); m.is(-1, m.h.SetCcTilingV2(65)) }},
	{name: "negative offset", rule: hccl.BadTiling, call: "SetCcTilingV2(-216)", found: "no cc tiling at that offset",
		right: "they lie at", returned: "-1",
		kernel: func(m *maker) { m.init(); m.is(-1, m.h.SetCcTilingV2(-216)) }},
	{name: "tiling of another group", rule: hccl.BadTiling, pairs: true, call: "SetCcTilingV2(1464)",
		found: `is for group "pair", the object is of group "world"`, right: "of this group", returned: "-1",
		kernel: func(m *maker) { m.init(); m.is(-1, m.h.SetCcTilingV2(m.t.offsets[len(tiledOps)])) }},
	{name: "tiling added in the kernel", rule: hccl.BadTiling, call: "SetCcTilingV2(1464)",
		found: "no cc tiling at that offset", right: "they lie at", returned: "-1",
		kernel: func(m *maker) {
			m.init()
			m.Tiling().AddCc(hccl.NewCcTiling("world", hccl.OpAllGather, "AllGather=level0:ring"))
			m.is(-1, m.h.SetCcTilingV2(1464))
		}},
	{name: "task of another operation", rule: hccl.NoTiling,
		call:  "AllGather(sendCount 10, HCCL_DATA_TYPE_FP32, strideCount 0, repeat 1)",
		found: "no tiling for AllGather", right: "SetCcTilingV2", returned: "-1",
		kernel: func(m *maker) {
			m.init()
			m.refused(m.h.AllGather(hccl.CommitNow, m.send, m.recv, 10, hccl.FP32, 0, 1))
		}},
	{name: "algorithm that does not suit the group", rule: hccl.BadAlgorithm,
		call:  "AlltoAllV(sendCounts [5 5 5 5], sdispls [0 50 100 150], HCCL_DATA_TYPE_FP32, recvCounts [5 5 5 5], rdispls [0 50 100 150], HCCL_DATA_TYPE_FP32, repeat 1)",
		found: "4 ranks have 4 steps, which do not go into Commits of 3", right: "another algorithm", returned: "-1",
		tile: func(cc *hccl.CcTiling) {
			if cc.OpType() == hccl.OpAlltoAllV {
				cc.SetStepSize(3)
			}
		},
		kernel: func(m *maker) {
			m.init()
			m.refused(m.h.AlltoAllV(hccl.CommitNow, m.send, fours(5), fifties, hccl.FP32, m.recv, fours(5), fifties, hccl.FP32, 1))
		}},

	{name: "SetCcTilingV2", rule: hccl.NoInit, call: "SetCcTilingV2(64)", found: "not initialised",
		right: "InitV2 comes first", returned: "-1",
		kernel: func(m *maker) { m.is(-1, m.h.SetCcTilingV2(64)) }},
	{name: "AllReduce", rule: hccl.NoInit, call: "AllReduce(count 10, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, repeat 1)",
		found: "not initialised", right: "InitV2 and SetCcTilingV2", returned: "-1",
		kernel: func(m *maker) { m.refused(m.h.AllReduce(hccl.CommitNow, 1, 2, 10, hccl.FP32, hccl.ReduceSum, 1)) }},
	{name: "AlltoAllV", rule: hccl.NoInit,
		call:  "AlltoAllV(sendCounts [], sdispls [], HCCL_DATA_TYPE_INT8, recvCounts [], rdispls [], HCCL_DATA_TYPE_INT8, repeat 0)",
		found: "not initialised", right: "InitV2", returned: "-1",
		kernel: func(m *maker) { m.refused(m.h.AlltoAllV(hccl.CommitNow, 0, nil, nil, 0, 0, nil, nil, 0, 0)) }},
	{name: "BatchWrite", rule: hccl.NoInit, call: "BatchWrite(0 items)", found: "not initialised", right: "InitV2", returned: "-1",
		kernel: func(m *maker) { m.refused(m.h.BatchWrite(nil)) }},
	{name: "Commit", rule: hccl.NoInit, call: "Commit(handle 0)", found: "not initialised", right: "InitV2", returned: "ignored",
		kernel: func(m *maker) { m.does(func() { m.h.Commit(0) }) }},
	{name: "Wait", rule: hccl.NoInit, call: "Wait(handle 0)", found: "not initialised", right: "InitV2", returned: "-1",
		kernel: func(m *maker) { m.is(-1, m.h.Wait(0)) }},
	{name: "Query", rule: hccl.NoInit, call: "Query(handle 0)", found: "not initialised", right: "InitV2", returned: "-1",
		kernel: func(m *maker) { m.is(-1, m.h.Query(0)) }},
	{name: "Iterate", rule: hccl.NoInit, call: "Iterate(handle 0, 0 slices)", found: "not initialised", right: "InitV2", returned: "0",
		kernel: func(m *maker) { m.is(0, m.h.Iterate(hccl.Sources, 0, nil)) }},
	{name: "InterHcclGroupSync", rule: hccl.NoInit, call: "InterHcclGroupSync(group 1, handle 0)",
		found: "not initialised", right: "InitV2", returned: "-1",
		kernel: func(m *maker) { m.is(-1, m.h.InterHcclGroupSync(1, 0)) }},
	{name: "Finalize", rule: hccl.NoInit, call: "Finalize()", found: "not initialised", right: "InitV2",
		kernel: func(m *maker) { m.does(func() { m.h.Finalize() }) }},
	{name: "rank", rule: hccl.NoInit, call: "GetRankId()", found: "not initialised", right: "InitV2", returned: "-1",
		kernel: func(m *maker) { m.is(-1, m.h.GetRankID()) }},
	{name: "ranks", rule: hccl.NoInit, call: "GetRankDim()", found: "not initialised", right: "InitV2", returned: "-1",
		kernel: func(m *maker) { m.is(-1, m.h.GetRankDim()) }},
	{name: "window", rule: hccl.NoInit, call: "GetWindowsInAddr(0)", found: "not initialised", right: "InitV2", returned: "null",
		kernel: func(m *maker) { m.is(0, int(m.h.GetWindowsInAddr(0))) }},
}

// hostRules break the rules of tilings. The tests of Tiling check the texts.
var hostRules = map[hccl.Rule]func(t *hccl.Tiling){
	hccl.BadSetting:   func(t *hccl.Tiling) { t.AddInit(); t.AddCc(nil) },
	hccl.BadGroupName: func(t *hccl.Tiling) { t.AddInit(); t.AddCc(hccl.NewCcTiling(strings.Repeat("x", 129), 2, "")) },
	hccl.BadAlgorithm: func(t *hccl.Tiling) { t.AddInit(); t.AddCc(hccl.NewCcTiling("world", 2, "AllReduce=level0:tree")) },
	hccl.TilingOrder:  func(t *hccl.Tiling) { t.AddCc(hccl.NewCcTiling("world", 2, "AllReduce=level0:ring")) },
	hccl.TooManyTilings: func(t *hccl.Tiling) {
		t.AddInit()
		for range 9 {
			t.AddCc(hccl.NewCcTiling("world", 2, "AllReduce=level0:ring"))
		}
	},
}

// Each rule is one that something breaks in these tests.
func TestEachRuleIsBroken(t *testing.T) {
	broken := map[hccl.Rule]bool{}
	for _, x := range slices.Concat(settingUp, preparing, following) {
		broken[x.rule] = true
	}
	for rule, do := range hostRules {
		broken[rule] = true
		tiling := hccl.NewTiling()
		do(tiling)
		if found := tiling.Diagnostics(); len(found) == 0 || found[len(found)-1].Rule != rule ||
			found[len(found)-1].Returned != "1" || found[len(found)-1].Call == "" {
			t.Errorf("%s: diagnostics %v", rule, found)
		}
	}
	for _, rule := range hccl.Rules() {
		if !broken[rule] {
			t.Errorf("no test breaks rule %s", rule)
		}
		delete(broken, rule)
	}
	if len(broken) > 0 {
		t.Errorf("no rules of the table: %v", broken)
	}
}
