# The commands of a carrier-on. Each works on a machine that has Go and, for
# the kernel tests, apt. docs/testing.md says more.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DELETE_ON_ERROR:
.PHONY: build test unit kernel-test proofs random lint bench golden targets clean

GO ?= go
# Linters, by the versions that passed last.
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
DEADCODE := golang.org/x/tools/cmd/deadcode@v0.52.0
# For go test: `make test TESTFLAGS=-v`.
TESTFLAGS ?=
# The race detector needs a C compiler; Go turns cgo off where there is none.
RACE := $(shell [ "$$($(GO) env CGO_ENABLED)" = 1 ] && echo -race)
# Kernel tests that cannot run are a failure if this is not empty.
REQUIRE_KERNELS ?= $(CI)
# The revision is part of the build where git can tell it.
VCS := $(shell git status >/dev/null 2>&1 && echo true || echo false)

# Packages whose tests import $(1).
testing = $(shell $(GO) list -e -f '{{range .TestImports}}{{if eq . "$(1)"}}{{$$.ImportPath}}{{"\n"}}{{end}}{{end}}{{range .XTestImports}}{{if eq . "$(1)"}}{{$$.ImportPath}}{{"\n"}}{{end}}{{end}}' ./... | sort -u)

build: # one stripped, static binary: ./ep
	CGO_ENABLED=0 $(GO) build -trimpath -buildvcs=$(VCS) -ldflags='-s -w' -o ep ./cmd/ep

test: lint unit kernel-test # everything

unit: # what needs no kernel: also the golden and the command-line tests
	EP_KERNEL_TESTS= $(GO) test $(RACE) -shuffle=on $(TESTFLAGS) ./...

# What make test boots kernels for: the harness itself, the scripts and sentences of
# the language, places in memory and in programs. make proofs runs all of it, which
# takes an hour on two processors.
KERNEL_PACKAGES ?= ./runtime/vm ./runtime/proof ./runtime/randomproof ./runtime/btfproof ./runtime/uprobeproof

proofs: # every test on real kernels: joins, sources, histograms, running, storms, modules
	$(MAKE) kernel-test KERNEL_PACKAGES='$(call testing,github.com/eptrace/ep/runtime/vm)'

kernel-test: # the same commands on real kernels, booted by QEMU
	@if $(GO) run ./cmd/epvm fetch; then \
		set -x; EP_KERNEL_TESTS=$${EP_KERNEL_TESTS:-require} $(GO) test -count=1 -timeout=60m $(TESTFLAGS) $(KERNEL_PACKAGES); \
	elif [ -n "$(REQUIRE_KERNELS)" ] && [ "$(REQUIRE_KERNELS)" != 0 ]; then \
		echo 'kernel tests are required and did NOT run: what is missing is said above' >&2; exit 1; \
	else \
		echo 'kernel tests did NOT run: what is missing is said above'; \
	fi

# How many random scripts, from which seed, on which kernels.
N ?= 1000
SEED ?= 1
KERNELS ?= 6.1-x86_64,6.12-x86_64,6.17-x86_64,7.2-x86_64,7.3-x86_64

random: # random scripts against a model of the language: make random N=5000 SEED=7 KERNELS=6.17-x86_64
	EP_RANDOM_N=$(N) EP_RANDOM_SEED=$(SEED) EP_KERNEL_TESTS=$(KERNELS) $(GO) test -count=1 -timeout=0 $(TESTFLAGS) ./runtime/randomproof -run TestKernels

lint:
	@files=$$(gofmt -l .); if [ -n "$$files" ]; then echo "gofmt would change: $$files" >&2; exit 1; fi
	$(GO) vet ./...
	$(GO) run $(STATICCHECK) ./...
	@dead=$$($(GO) run $(DEADCODE) -test ./... | grep -v 'func: Example' || true); if [ -n "$$dead" ]; then echo "$$dead" >&2; exit 1; fi

bench: # speed and size
	$(GO) test -run='^$$' -bench=. -benchmem $(TESTFLAGS) ./...

golden: # write golden files, scripts of cmd/ep and the made parts of docs anew; then read the diff
	$(GO) test -count=1 $(call testing,github.com/hexops/autogold/v2) ./cmd/ep ./docs -update

targets: # make the embedded targets anew inside booted kernels
	@list=$$($(GO) run ./cmd/epvm list); dir=$$(sed -n 's/^kept in //p' <<<"$$list"); \
	awk 'NF == 4 && $$4 != "-" { print $$1, $$4 }' <<<"$$list" | while read -r name release; do \
		echo "$$name  $$release"; \
		$(GO) run ./cmd/epvm run --out compiler/target/embedded --file "/boot/config-$$release=$$dir/$$name/config" \
			"$$name" ./cmd/ep target save -o "$$name.target" </dev/null; \
	done

clean:
	rm -f ep
