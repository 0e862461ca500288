package target

// The files of a machine that a target is made of, besides tracefs, by their
// paths from the root. They are exported as far as the saving side needs them.
const (
	pathRelease   = "proc/sys/kernel/osrelease"
	pathArch      = "proc/sys/kernel/arch"
	pathVersion   = "proc/version"
	pathConfig    = "proc/config.gz"
	pathKallsyms  = "proc/kallsyms"
	pathBTF       = "sys/kernel/btf/vmlinux"
	pathBlacklist = "sys/kernel/debug/kprobes/blacklist"
	pathLockdown  = "sys/kernel/security/lockdown"
	// In tracefs.
	fileFunctions = "available_filter_functions"
	fileReadme    = "README"
)
