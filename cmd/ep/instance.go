package main

import (
	"fmt"

	"github.com/eptrace/ep/compiler/plan"
)

// instanceName is the name of an instance on the command line.
type instanceName string

// UnmarshalText implements encoding.TextUnmarshaler for kong.
func (n *instanceName) UnmarshalText(text []byte) error {
	if !plan.ValidInstance(string(text)) {
		return fmt.Errorf("%q cannot be used: %s", text, plan.InstanceRule)
	}
	*n = instanceName(text)
	return nil
}

// ownInstance returns the instance that a script gets if nothing names another.
func ownInstance(script string) string { return "ep-" + shortName(script) }
