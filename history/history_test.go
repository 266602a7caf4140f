package history

import "testing"

func TestWho(t *testing.T) {
	for _, c := range []struct {
		who  Who
		want string
	}{
		{Who{Rank: -1, PE: -1, Stream: -1, Program: -1}, "host"},
		{Who{Rank: 2, PE: 5, Stream: -1, Program: -1}, "rank 2"},
		{Who{Rank: 2, PE: 5, Stream: 1, Program: -1}, "stream 1 of rank 2"},
		{Who{Rank: 2, PE: 5, Stream: 1, Program: 0}, "rank 2 program 0"},
		{Who{Rank: 2, PE: 5, Stream: -1, Program: -1, Queue: 1}, "queue 0 of the communication engine of rank 2"},
		{Who{Rank: 2, PE: 5, Stream: -1, Program: -1, Queue: 1, Task: 4}, "task 3 of the communication engine of rank 2"},
		{Who{Rank: 2, PE: 5, Stream: -1, Program: -1, Queue: 2, Task: 1}, "task 0 of queue 1 of the communication engine of rank 2"},
	} {
		if got := c.who.String(); got != c.want {
			t.Errorf("%+v is called %q, want %q", c.who, got, c.want)
		}
	}
}
