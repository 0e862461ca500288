package target

// The files that a target is made of, by their paths from the machine's root.
const (
	PathRelease   = "proc/sys/kernel/osrelease"
	PathArch      = "proc/sys/kernel/arch" // since v6.1
	PathVersion   = "proc/version"
	PathKallsyms  = "proc/kallsyms"
	PathBTF       = "sys/kernel/btf/vmlinux"
	PathBlacklist = "sys/kernel/debug/kprobes/blacklist"
	PathLockdown  = "sys/kernel/security/lockdown"
	PathTracefs   = "sys/kernel/tracing" // where a saved target has it
	pathConfigGz  = "proc/config.gz"
)

// ConfigPath returns where a distribution lays the kernel's configuration.
func ConfigPath(release string) string { return "boot/config-" + release }

// The files of tracefs that a target reads.
const (
	FileFunctions = "available_filter_functions"
	FileReadme    = "README"
)
