// Command epvm is for developers of ep: it keeps the kernels that tests boot, and runs programs in them.
//
// It is not part of what users install. The work is done by runtime/vm; here are only arguments and printing, one file
// a command.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/alecthomas/kong"
	"github.com/eptrace/ep/runtime/vm"
)

// arguments is the command line.
type arguments struct {
	Fetch fetchCommand `cmd:"" help:"Install QEMU and download kernels."`
	List  listCommand  `cmd:"" help:"List the kernels and what is there of them."`
	Run   runCommand   `cmd:"" help:"Boot a kernel and run a program in it."`
}

// exitCode is the error of a command that has said all there is to say.
type exitCode int

// Error renders the code; nobody is to see it.
func (c exitCode) Error() string { return fmt.Sprintf("exit code %d", int(c)) }

func main() {
	vm.Guest(nil) // this program is also the init of the guests it boots
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	var args arguments
	parsed := kong.Parse(&args,
		kong.Name("epvm"),
		kong.Description("Boots the kernels that ep is tested on."),
		kong.UsageOnError(),
		kong.BindTo(ctx, (*context.Context)(nil)))
	err := parsed.Run()
	var code exitCode
	if errors.As(err, &code) {
		os.Exit(int(code))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "epvm:", err)
		os.Exit(1)
	}
}
