package compare

import (
	"context"

	"kernbench/dtype"
	"kernbench/lab/limits"
	"kernbench/lab/run"
	"kernbench/unit"
)

// Bound sets the hardware bound of each row's call. A row gets none if it did not end, if its bench
// does not have exactly one collective, or if its call has no limits.
func Bound(ctx context.Context, s run.Spec, rows []Row) error {
	type call struct {
		collective, typ string
		elems, world    int
	}
	known := map[call]unit.Time{}
	for i := range rows {
		r := rows[i].Result
		if r == nil || rows[i].Err != nil || !r.Timed || r.Collective == "" || len(r.Counted) != 1 || r.Collectives > 1 {
			continue
		}
		typ, err := dtype.Parse(r.DType)
		if err != nil {
			continue
		}
		c := call{r.Collective, r.DType, r.ElemsPerRank, r.WorldSize}
		if _, asked := known[c]; !asked {
			base := s
			base.Algorithm, base.NElem, base.DType, base.Progress = r.Algorithm, r.ElemsPerRank, typ, nil
			if base.Devices == nil {
				base.Ranks = r.WorldSize
			}
			known[c] = 0
			if l, err := limits.Run(ctx, limits.Spec{Base: base, Collective: c.collective}); err == nil && len(l.Rows) == 1 {
				known[c] = l.Rows[0].Hardware
			}
			if ctx.Err() != nil {
				return ctx.Err()
			}
		}
		rows[i].Bound = known[c]
	}
	return nil
}
