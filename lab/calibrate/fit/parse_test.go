package fit

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kernbench/unit"
)

func parseFile(t *testing.T, name string) *Table {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	table, err := Parse(name, data)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func TestParsePublishedTables(t *testing.T) {
	const us = unit.Microsecond
	for _, test := range []struct {
		name        string
		points      int
		first, last unit.Time
	}{
		{"a100_8gpu_nvswitch_azure_allreduce.tsv", 31, 18750 * unit.Nanosecond, 64200 * us},
		{"b200_8gpu_allreduce.tsv", 32, 20250 * unit.Nanosecond, 35667800 * unit.Nanosecond},
		{"mi300x_8gpu_xgmi_allreduce.tsv", 32, 16610 * unit.Nanosecond, 94254 * us},
	} {
		t.Run(test.name, func(t *testing.T) {
			table := parseFile(t, test.name)
			if table.Form != TSV || table.Collective != "all_reduce" || table.Ranks != 8 || table.Type != "float32" ||
				table.RedOp != "sum" || table.Root != -1 || table.InPlace {
				t.Errorf("%+v", table)
			}
			if !strings.HasPrefix(table.Lookup("hardware"), "1 node, 8x ") || table.Lookup("source") == "" {
				t.Errorf("header %v", table.Header)
			}
			p := table.Points
			if len(p) != test.points || p[0].Size != 8 || p[0].Time != test.first || p[len(p)-1].Time != test.last {
				t.Errorf("%d points from %v to %v", len(p), p[0], p[len(p)-1])
			}
			for i := 1; i < len(p); i++ {
				if p[i].Size != 2*p[i-1].Size {
					t.Errorf("%v after %v", p[i].Size, p[i-1].Size)
				}
			}
		})
	}
}

func TestParseText(t *testing.T) {
	table := parseFile(t, "all_reduce_perf.txt")
	if table.Form != Text || table.Collective != "all_reduce_perf" || table.Ranks != 4 || table.Type != "float" ||
		table.RedOp != "sum" || table.Root != -1 || table.InPlace {
		t.Errorf("%+v", table)
	}
	if len(table.Points) != 5 || table.Points[4] != (Point{unit.MiB, 40020 * unit.Nanosecond, 19}) {
		t.Errorf("points %v", table.Points)
	}
}

func TestParseJSON(t *testing.T) {
	table := parseFile(t, "all_reduce_perf.json")
	if table.Form != JSON || table.Collective != "all_reduce_perf" || table.Ranks != 2 || table.Type != "float" ||
		table.RedOp != "sum" || table.Root != -1 || table.InPlace {
		t.Errorf("%+v", table)
	}
	if len(table.Points) != 3 || table.Points[2] != (Point{8192, 11250 * unit.Nanosecond, 8}) {
		t.Errorf("points %v", table.Points)
	}
}

const textHead = "#       size         count      type   redop    root     time   algbw   busbw  #wrong     time   algbw   busbw  #wrong\n"

// TestParseVariants: what tables have in common with none of the files above.
func TestParseVariants(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"blanks for tabs", "size_bytes time_us\n8 1.5\n16 2", "8 B 1500ns, 16 B 2000ns; out"},
		{"columns in another order, and more of them", "time_us\tnote\tsize_bytes\n2\tslow\t16\n1\t\t8\n", "8 B 1000ns, 16 B 2000ns; out"},
		{"in place", "# placement: in-place\nsize_bytes\ttime_us\n8\t1\n", "8 B 1000ns; in"},
		{"a line's end of Windows, and a byte order mark", "\ufeff# ranks: 2\r\nsize_bytes\ttime_us\r\n8\t1\r\n", "8 B 1000ns; out"},
		{"comments and empty lines among rows", "size_bytes\ttime_us\n\n8\t1\n# here the cable was changed\n16\t1\n",
			"8 B 1000ns, 16 B 1000ns; out"},
		{"a size several times", "size_bytes\ttime_us\n8\t1\n8\t2\n16\t4\n",
			"8 B 1500ns, 16 B 4000ns; out; 1 rows have a size that another has, too: each size is the mean of its rows"},
		{"sizes of no element", textHead + "0 0 float none -1 0.1 0 0 0 0.1 0 0 0\n64 2 float none -1 3 0 0 0 4 0 0 0\n",
			"64 B 3000ns; out; 1 rows of size 0 are left out"},
		{"in place alone", textHead + "  64  2  float  sum  -1                                 4.00 0 0 0\n", "64 B 4000ns; in"},
		{"mpirun's tags", "[1,0]<stdout>:" + textHead + "[1,0]<stdout>: 64 2 float sum -1 4.00 0 0 0 5 0 0 0\n[1,0]<stderr>:what\n",
			"64 B 4000ns; out"},
		{"no column for the root, and powers of ten",
			"# size count type redop time algbw busbw error time algbw busbw error\n64 2 float sum 1.1e+06 0 0 0e+00 5 0 0 0e+00\n",
			"64 B 1100ms; out"},
		{"of kernbench perf, with a remark behind",
			"#  8 ranks on 8 SIPs (sim)\n" + textHead + "64 16 f32 sum -1 4.00 0 0 N/A N/A N/A N/A N/A  # in place: no\n128 16 f32 sum -1 N/A 0 0 N/A N/A N/A N/A N/A\n",
			"64 B 4000ns; out; 1 rows without a time are left out"},
		{"JSON of a run without -J's list of devices", `{"results":[{"size":4,"in_place":{"cpu_time":2}}]}`, "4 B 2000ns; in"},
	} {
		t.Run(test.name, func(t *testing.T) {
			table, err := Parse("t", []byte(test.text))
			if err != nil {
				t.Fatal(err)
			}
			var points []string
			for _, p := range table.Points {
				points = append(points, p.Size.String()+" "+p.Time.String())
			}
			got := strings.Join(points, ", ") + map[bool]string{true: "; in", false: "; out"}[table.InPlace]
			if len(table.Notes) > 0 {
				got += "; " + strings.Join(table.Notes, "; ")
			}
			if got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

func TestParseErrors(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"nothing", "",
			"t:1:1: found no table, want the output of nccl-tests, its JSON (-J), or columns size_bytes and time_us"},
		{"commas", "# ranks: 8\nsize_bytes,time_us\n8,9\n", "t:2:1: found columns separated by commas, want tabs or spaces"},
		{"another file", "#!/bin/sh\necho 8 9\n", "t:1:1: found no table"},
		{"no time", "# ranks: 8\nsize_bytes\ttime_ms\n8\t1\n", "t:2:1: found columns without time_us"},
		{"a column twice", "size_bytes\ttime_us\ttime_us\n8\t1\t1\n", "t:1:20: found a second column time_us"},
		{"text above the columns", "A100\nsize_bytes\ttime_us\n8\t1\n",
			`t:1:1: found "A100"; lines above that of the columns begin with #`},
		{"ranks", "# ranks: eight\nsize_bytes\ttime_us\n8\t1\n", `t:1:10: found "eight", want a number of ranks`},
		{"placement", "# placement: both\nsize_bytes\ttime_us\n8\t1\n", `t:1:14: found "both", want out-of-place or in-place`},
		{"root", "# root: all\nsize_bytes\ttime_us\n8\t1\n", `t:1:9: found "all", want a rank, or -1 for none`},
		{"no rows", "size_bytes\ttime_us\n", "t:1:1: found no row below the columns"},
		{"a cell missing", "size_bytes\ttime_us\n8\n", "t:2:1: found 1 columns, want 2, as in line 1"},
		{"a size with a unit", "size_bytes\ttime_us\n1K\t1\n", `t:2:1: found "1K", want a whole number of bytes, such as 1048576`},
		{"a size below 0", "size_bytes\ttime_us\n-8\t1\n", `t:2:1: found "-8", want a whole number of bytes`},
		{"a time of 0", "size_bytes\ttime_us\n8\t0\n", `t:2:3: found "0", want a time in µs, such as 18.75`},
		{"no time, as a number", "size_bytes\ttime_us\n8\tNaN\n", `t:2:3: found "NaN", want a time in µs`},
		{"an empty time", "size_bytes\ttime_us\n8\t\n", `t:2:3: found nothing, want a time in µs`},
		{"ms", "size_bytes\ttime_us\talgbw_GBps\n1000000\t1\t1\n",
			"t:2:11: found an algbw of 1 GB/s; size over time is 1000: the size is expected in bytes and the time in µs"},
		{"two types", textHead + "64 2 float sum -1 4 0 0 0 5 0 0 0\n64 2 half sum -1 4 0 0 0 5 0 0 0\n",
			`t:3:6: found the type "half" after "float" in line 2, want one: leave the rows of the others out`},
		{"two reductions", textHead + "64 2 float sum -1 4 0 0 0 5 0 0 0\n64 2 float prod -1 4 0 0 0 5 0 0 0\n",
			`t:3:6: found the reduction "prod" after "sum"`},
		{"a row cut off", textHead + "64 2 float sum -1 4 0\n", "t:2:1: found 7 columns, want 13, as in line 1"},
		{"text for a time", textHead + "64 2 float sum -1 4x 0 0 0 5 0 0 0\n", `t:2:19: found "4x", want a time in µs`},
		{"a table without rows", textHead, "t:1:1: found no row with a time below the columns"},
		{"JSON of another kind", "{}", "t:1:1: found no list of results"},
		{"JSON of the future", `{"version": 4, "results": []}`, "t:1:13: found version 4; 1 to 3 are known"},
		{"JSON that was cut off", "{\"results\": [\n {\"size\": 8", "t:2:12: found no whole JSON: it ends too early: the run was cut off"},
		{"no JSON", "{\n  size: 8}", "t:2:3: found no whole JSON: invalid character 's'"},
		{"JSON without times", `{"results": [{"size": 8, "out_of_place": null}]}`, "t:1:13: found no result with a time"},
		{"a time that is none", "{\"results\": [\n{\"size\": 8, \"out_of_place\": {\"time\": \"nan\"}}]}",
			`t:2:38: found "nan", want a time in µs`},
		{"a size that is none", `{"results": [{"size": "8", "out_of_place": {"time": 1}}]}`,
			"t:1:23: found 8, want a whole number as size"},
		{"two objects", "{\"results\": [{\"size\": 8, \"in_place\": {\"time\": 1}}]} {}", "t:1:53: found more after the end of the object"},
		{"levels without end", `{"a":` + strings.Repeat("[", 100), "found no whole JSON: more than 64 levels"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := Parse("t", []byte(test.text))
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got  %v\nwant %s", err, test.want)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	names, err := filepath.Glob(filepath.Join("testdata", "*.*"))
	if err != nil || len(names) < 5 {
		f.Fatal(names, err)
	}
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(data))
	}
	f.Add("size_bytes\ttime_us\n8\t1e-300\n")
	f.Add(textHead + "0 0 float none -1 0 0 0 0 0 0 0 0\n")
	f.Fuzz(func(t *testing.T, text string) {
		table, err := Parse("t", []byte(text))
		if err != nil {
			e, ok := err.(*ParseError)
			if !ok || e.Line < 1 || e.Column < 1 || e.Line > 1+strings.Count(text, "\n") || e.Text == "" {
				t.Fatalf("%#v", err)
			}
			return
		}
		for i, p := range table.Points {
			if p.Size < 1 || p.Time < 1 || p.Line < 1 || i > 0 && p.Size <= table.Points[i-1].Size {
				t.Fatalf("points %v", table.Points)
			}
		}
		if why := Excluded(table.Points); len(why) != len(table.Points) {
			t.Fatal("rows set aside that are not there")
		}
	})
}
