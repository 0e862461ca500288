#!/usr/bin/env bash
# Builds the kernel of TestBootconfig from Debian's source of Linux 6.12: small,
# with CONFIG_BOOTTIME_TRACING, which Debian's own kernels lack. It takes some
# minutes and 2 GB in a temporary folder, and keeps the kernel in the folder of
# `epvm list` (docs/testing.md).
set -euo pipefail
to=$(cd "$(dirname "$0")/../.." && go run ./cmd/epvm list | sed -n 's/^kept in //p')/6.12-boot-x86_64
apt-get install -y -qq --no-install-recommends linux-source-6.12 gcc make flex bison bc libelf-dev xz-utils >/dev/null
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
tar -xf /usr/src/linux-source-6.12.tar.xz -C "$dir" --strip-components=1
cd "$dir"
make -s tinyconfig
scripts/config -e 64BIT -e SMP -e PRINTK -e TTY -e SERIAL_8250 -e SERIAL_8250_CONSOLE \
	-e BLK_DEV_INITRD -e BINFMT_ELF -e PROC_FS -e SYSFS -e DEVTMPFS -e TMPFS -e SHMEM -e FUTEX -e EPOLL \
	-e EVENTFD -e SIGNALFD -e TIMERFD -e POSIX_TIMERS -e HIGH_RES_TIMERS -e FILE_LOCKING -e MULTIUSER \
	-e PCI -e ACPI -e BLOCK -e BLK_DEV -e BLK_DEV_NVME -e NET -e UNIX -e INET \
	-e KALLSYMS -e KALLSYMS_ALL -e KPROBES -e PERF_EVENTS -e FTRACE -e FUNCTION_TRACER -e DYNAMIC_FTRACE \
	-e FTRACE_SYSCALLS -e TRACER_SNAPSHOT -e KPROBE_EVENTS -e SYNTH_EVENTS -e HIST_TRIGGERS \
	-e BOOT_CONFIG -e BOOTTIME_TRACING
make -s olddefconfig
make -s -j"$(nproc)" bzImage
mkdir -p "$to"
cp arch/x86/boot/bzImage "$to/vmlinuz"
cp .config "$to/config"
cp include/config/kernel.release "$to/release"
echo "built $to"
