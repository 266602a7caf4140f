//go:build !noview

package cli

import (
	"context"
	"fmt"
	"io"
	"net"
	"os/exec"
	"runtime"

	"kernbench/web"

	"github.com/spf13/cobra"
)

func (a *app) viewCommand() *cobra.Command {
	var listen string
	var quiet bool
	cmd := &cobra.Command{
		Use:   "view [FILE|DB|FOLDER]...",
		Short: "View, compare and start runs in a browser",
		Long: `Serve a page on this computer. It shows reports (--report FILE.html), results (--format json of run
and explain), databases of kernbench tune, and folders of these. The page compares results that you
select, and starts new runs with changed settings. Ctrl-C ends the server.

The printed address has a secret after the #. The page removes it, and the browser sends it to no
server. Requests without the secret are rejected. The server listens on this computer only, unless
--listen names another address. Traffic is not encrypted.
` + exitCodes,
		Example: `  kernbench view ring.html tree.html
  kernbench view kernbench.db
  kernbench view --no-browser results/`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.view(cmd.Context(), args, listen, !quiet)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&listen, "listen", "127.0.0.1:0", "`ADDRESS:PORT` to listen on; port 0 picks a free port")
	f.BoolVar(&quiet, "no-browser", false, "print the address, and do not open a browser")
	return cmd
}

// view serves the viewer until it is interrupted.
func (a *app) view(ctx context.Context, names []string, listen string, open bool) error {
	s, err := web.New(web.Options{Names: names, CalledAs: calledAs(), Machine: machineOf})
	if err != nil {
		return err
	}
	var config net.ListenConfig
	l, err := config.Listen(ctx, "tcp", listen)
	if err != nil {
		return fmt.Errorf("--listen %s: %w", listen, err)
	}
	address := s.Address(l.Addr())
	if _, err := fmt.Fprintf(a.out, "kernbench view: %s\n", address); err != nil {
		l.Close()
		return err
	}
	if open {
		openBrowser(a.err, address)
	}
	return s.Serve(ctx, l, listen)
}

// openBrowser opens an address with the system's program. A failure is no error, since the address
// is printed.
func openBrowser(say io.Writer, address string) {
	words := []string{"xdg-open", address}
	switch runtime.GOOS {
	case "darwin":
		words[0] = "open"
	case "windows":
		words = []string{"rundll32", "url.dll,FileProtocolHandler", address}
	}
	cmd := exec.Command(words[0], words[1:]...)
	if err := cmd.Start(); err != nil {
		fmt.Fprintf(say, "kernbench: no browser was opened (%v): open the address yourself\n", err)
		return
	}
	go cmd.Wait()
}
