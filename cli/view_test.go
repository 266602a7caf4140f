package cli

import (
	"bufio"
	"context"
	"io"
	"regexp"
	"testing"
)

// The viewer prints its local address, and ends by an interrupt.
func TestViewEndsWithAnInterrupt(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	read, write := io.Pipe()
	status := make(chan int, 1)
	go func() {
		status <- execute(ctx, []string{"view", "--no-browser"}, write, io.Discard)
		write.Close()
	}()
	line, err := bufio.NewReader(read).ReadString('\n')
	if err != nil || !regexp.MustCompile(`^kernbench view: http://127\.0\.0\.1:[0-9]+/#[A-Z2-7]{20,}\n$`).MatchString(line) {
		t.Errorf("the viewer prints %q, %v", line, err)
	}
	stop()
	if s := <-status; s != ExitOK {
		t.Errorf("exit status %d", s)
	}
}
