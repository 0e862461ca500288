package target

import (
	"slices"

	"github.com/eptrace/ep/lang/types"
)

// userArgs lists parameters of functions that are __user pointers. The type
// information of kernels that are compiled without btf_type_tag does not say so,
// and on some architectures, as arm64, one address means something else in the
// kernel than in a program. The names are those of the kernel's source.
var userArgs = map[string][]string{
	"do_sys_open":         {"filename"},
	"do_sys_openat2":      {"filename"},
	"getname":             {"filename"},
	"getname_flags":       {"filename"},
	"user_path_at":        {"name"},
	"user_path_at_empty":  {"name"},
	"do_faccessat":        {"filename"},
	"do_fchmodat":         {"filename"},
	"do_fchownat":         {"filename"},
	"do_readlinkat":       {"pathname", "buf"},
	"do_utimes":           {"filename"},
	"do_sys_truncate":     {"pathname"},
	"vfs_read":            {"buf"},
	"vfs_write":           {"buf"},
	"ksys_read":           {"buf"},
	"ksys_write":          {"buf"},
	"ksys_pread64":        {"buf"},
	"ksys_pwrite64":       {"buf"},
	"do_sys_poll":         {"ufds"},
	"strncpy_from_user":   {"src"},
	"strnlen_user":        {"str"},
	"strndup_user":        {"s"},
	"__sys_bind":          {"umyaddr"},
	"__sys_connect":       {"uservaddr"},
	"__sys_accept4":       {"upeer_sockaddr"},
	"__sys_sendto":        {"buff", "addr"},
	"__sys_recvfrom":      {"ubuf", "addr"},
	"__sys_sendmsg":       {"msg"},
	"__sys_recvmsg":       {"msg"},
	"move_addr_to_kernel": {"uaddr"},
}

// markUser makes the parameters of the function name that are known to be
// __user pointers such.
func markUser(name string, p *Proto) *Proto {
	for i := range p.Params {
		if !slices.Contains(userArgs[name], p.Params[i].Name) {
			continue
		}
		if t, ok := p.Params[i].Type.(types.Pointer); ok {
			t.User = true
			p.Params[i].Type = t
		}
	}
	return p
}
