#!/bin/sh
# Makes the programs of this folder anew from src. It wants the compilers of
# Debian: gcc, g++, gcc-aarch64-linux-gnu, gcc-arm-linux-gnueabihf,
# gcc-riscv64-linux-gnu, and rustc. The programs are committed, since tests run
# where these are not; runtime/uprobeproof runs two of them.
set -eu
cd "$(dirname "$0")"
export SOURCE_DATE_EPOCH=0
common="-O1 -g -nostdlib -ffreestanding -fno-asynchronous-unwind-tables -fno-stack-protector -fcf-protection=none
	-fdebug-prefix-map=$PWD=. -fno-pic -Wl,--build-id=sha1 -Wl,-z,max-page-size=4096 -Wl,-z,norelro -Wl,--hash-style=gnu"
static="$common -static src/program.c src/twins.c"
loose="-fpie -static-pie -Wl,--no-dynamic-linker"
# Other architectures' compilers know no -fcf-protection.
other="${static%%-fcf-protection=none*}${static#*-fcf-protection=none}"

gcc $static -o program-x86_64
gcc $static $loose -o loose-x86_64
gcc -m32 $static -o program-i386
aarch64-linux-gnu-gcc $other $loose -o loose-arm64
arm-linux-gnueabihf-gcc $other -mthumb -o program-arm
riscv64-linux-gnu-gcc $other -Wl,-z,separate-code -o program-riscv64

# Stripped, with its debug information in another file.
objcopy --only-keep-debug program-x86_64 stripped-x86_64.debug
objcopy --compress-debug-sections=zlib-gabi stripped-x86_64.debug
objcopy --strip-all --add-gnu-debuglink=stripped-x86_64.debug program-x86_64 stripped-x86_64

gcc $common -fpic -shared -Wl,--version-script=src/library.map src/library.c -Wl,-soname,libep.so.1 -o libep.so
strip --strip-all libep.so
g++ $common -g0 -fno-exceptions -fno-rtti -static src/names.cc -o names-cpp
for mangling in legacy v0; do
	# The variable allows an option that only unreleased compilers have by right.
	RUSTC_BOOTSTRAP=1 rustc --edition 2021 --crate-name names -C panic=abort -C opt-level=1 -C debuginfo=0 \
		-C relocation-model=static -Z unstable-options -C symbol-mangling-version=$mangling \
		-C link-arg=-nostartfiles -C link-arg=-nostdlib -C link-arg=-static -C link-arg=-Wl,-z,max-page-size=4096 \
		--remap-path-prefix "$PWD"=. src/names.rs -o names-rust-$mangling
done
chmod 644 names-* libep.so program-* loose-* stripped-*
