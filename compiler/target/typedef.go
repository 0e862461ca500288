package target

import "strings"

// width is how a C type's values are kept.
type width struct {
	size   int // 0 if not known
	signed bool
}

// typedefWidth returns how the scalar C type called base is kept on a machine
// whose long has the given size. It is for places where the format file does
// not tell: arguments of system calls, elements of arrays, what pointers
// point to.
func typedefWidth(base string, long int) width {
	if strings.HasPrefix(base, "enum ") {
		return width{4, false}
	}
	if w, ok := typedefs[base]; ok {
		if w.size == 0 {
			w.size = long
		}
		return w
	}
	return cWidth(base, long)
}

// cWidth reads C's own spellings: any order of the words is allowed.
func cWidth(base string, long int) width {
	w := width{signed: true}
	longs, ok := 0, base != ""
	for word := range strings.FieldsSeq(base) {
		switch word {
		case "unsigned":
			w.signed = false
		case "signed":
		case "long":
			longs++
		case "int":
		case "short":
			w.size = 2
		case "char":
			w.size = 1
		default:
			ok = false
		}
	}
	switch {
	case !ok:
		return width{}
	case longs == 1:
		w.size = long
	case longs > 1:
		w.size = 8
	case w.size == 0:
		w.size = 4
	}
	if base == "char" {
		w.signed = false // as the kernel's format files say of it: -funsigned-char since v6.2
	}
	return w
}

// typedefs holds the typedefs of include/linux/types.h and of the system
// calls' arguments. Size 0 is that of a long. Pointers by typedef are left
// out: a long's size, unsigned, is right for their bits.
var typedefs = map[string]width{
	"bool": {1, false}, "_Bool": {1, false},
	"u8": {1, false}, "u16": {2, false}, "u32": {4, false}, "u64": {8, false},
	"s8": {1, true}, "s16": {2, true}, "s32": {4, true}, "s64": {8, true},
	"__u8": {1, false}, "__u16": {2, false}, "__u32": {4, false}, "__u64": {8, false},
	"__s8": {1, true}, "__s16": {2, true}, "__s32": {4, true}, "__s64": {8, true},
	"__be16": {2, false}, "__be32": {4, false}, "__be64": {8, false},
	"__le16": {2, false}, "__le32": {4, false}, "__le64": {8, false},
	"uint8_t": {1, false}, "uint16_t": {2, false}, "uint32_t": {4, false}, "uint64_t": {8, false},
	"int8_t": {1, true}, "int16_t": {2, true}, "int32_t": {4, true}, "int64_t": {8, true},
	"uint": {4, false}, "ulong": {0, false}, "ushort": {2, false}, "uchar": {1, false},
	"size_t": {0, false}, "ssize_t": {0, true}, "off_t": {0, true}, "loff_t": {8, true},
	"__kernel_size_t": {0, false}, "__kernel_ssize_t": {0, true},
	"uintptr_t": {0, false}, "ptrdiff_t": {0, true},
	"pid_t": {4, true}, "tid_t": {4, true}, "uid_t": {4, false}, "gid_t": {4, false},
	"qid_t": {4, false}, "id_t": {4, true}, "old_uid_t": {2, false}, "old_gid_t": {2, false},
	"umode_t": {2, false}, "mode_t": {4, false}, "dev_t": {4, false}, "ino_t": {0, false},
	"gfp_t": {4, false}, "fmode_t": {4, false}, "slab_flags_t": {4, false}, "vm_flags_t": {0, false},
	"sector_t": {8, false}, "blkcnt_t": {8, false}, "pgoff_t": {0, false},
	"time_t": {0, true}, "time64_t": {8, true}, "ktime_t": {8, true}, "old_time32_t": {4, true},
	"__kernel_old_time_t": {0, true}, "clock_t": {0, true}, "clockid_t": {4, true},
	"timer_t": {4, true}, "mqd_t": {4, true}, "key_t": {4, true}, "key_serial_t": {4, true},
	"aio_context_t": {0, false}, "rwf_t": {4, true}, "nfds_t": {4, false}, "socklen_t": {4, true},
	"dma_addr_t": {8, false}, "phys_addr_t": {8, false}, "resource_size_t": {8, false},
	"compat_pid_t": {4, true}, "compat_ulong_t": {4, false}, "compat_uptr_t": {4, false},
	"compat_size_t": {4, false}, "compat_long_t": {4, true},
	"irqreturn_t": {4, true}, "errseq_t": {4, false}, "poll_t": {4, false}, "__poll_t": {4, false},
}
