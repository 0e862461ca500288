package lower

import (
	"github.com/eptrace/ep/compiler/ir"
	"github.com/eptrace/ep/lang/types"
)

// Where a probe is, `$ip`, is no argument of it: each record of a probe has it as
// a field of the kernel's own, which filters and histograms know. So a record
// that shows it is made by a histogram on the probe.

// addressColumn is the kernel's own field of a probe's record.
func addressColumn(p *ir.Probe) column {
	name := "__probe_ip"
	if p.End == ir.EndExit {
		name = "__probe_func"
	}
	return column{name: name, typ: types.Int{Size: 8, Form: types.Ksym}, size: 8}
}

// ownAddress takes `$ip` out of the fields of a hidden event that a probe alone
// makes, whose record has it, and has those who ask for the field ask for that.
func (r *recipe) ownAddress(refs map[string]*ir.FieldRef) {
	if r.steps[0].probe == nil {
		return
	}
	rest := *r
	rest.fields = nil
	own := map[string]string{}
	for _, f := range r.fields {
		if c, ok := f.Value.(*ir.Context); ok && c.Kind == ir.IP {
			own[f.Name] = c.Reg
		} else {
			rest.fields = append(rest.fields, f)
		}
	}
	if len(own) == 0 || !fetchable(&rest) {
		return
	}
	r.fields = rest.fields
	for _, ref := range refs {
		if name := own[ref.Name]; name != "" {
			ref.Name = name
		}
	}
}
