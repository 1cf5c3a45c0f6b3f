# SPDX-License-Identifier: GPL-2.0
#
# Everything is built in out/. "make help" lists what there is to make.

SHELL := /bin/bash
.DELETE_ON_ERROR:
# The parts share two cores and one log each: one after the other.
.NOTPARALLEL:

.PHONY: help setup perf perf-stock replay demo demo-vm bench charts check check-kernel check-ci check-all \
	check-real check-list series check-series kernel kernel-stock kernel-first kernel-debug kernel-kcsan bisect \
	variants kmod dkms plugin release portable deb clean

help:
	@sed -n 's/^\([a-z-]*\):.*## /  \1\t/p' Makefile | expand -t 18

setup: ## install the Debian packages that are missing (needs root)
	@scripts/setup

perf: ## build out/bin/perf, with the hybrid unwinder
	@scripts/setup base perf
	@scripts/build-perf hybrid

perf-stock: ## build the unpatched perf, out/perf-stock/perf, to compare with
	@scripts/setup base perf
	@scripts/build-perf stock

replay: ## build out/bin/replay, which explains a sample that scripts/keep-sample kept
	@scripts/setup base perf
	@$(MAKE) -s -C tools-perf/replay replay

demo: perf ## record one program with fp, dwarf and hybrid, and compare
	@scripts/demo

demo-vm: perf kernel ## the same in a VM, with a kernel that perf loads rules into
	@scripts/demo-vm

bench: perf perf-stock ## measure; BENCH="NAME..." picks some
	@scripts/setup test
	@scripts/bench $(BENCH)

charts: ## draw Documentation/figures from the JSON files there
	@scripts/setup charts
	@scripts/charts

check: ## the tests that need no kernel and no VM: 10 minutes; PARTS="NAME..." runs some
	@scripts/setup base perf test $(if $(PARTS),vm module flame charts)
	@scripts/check $(PARTS)

check-kernel: ## build kernels, and test them, modules and both series in VMs: 20 minutes
	@scripts/setup base perf test vm module
	@scripts/check --kernel $(PARTS)

check-ci: ## both, and all programs that CI records
	@scripts/setup base perf test vm module flame charts
	@scripts/check --ci $(PARTS)

check-all: ## every test in its long form: hours
	@scripts/setup base perf test vm module flame charts install
	@scripts/check --all $(PARTS)

check-real: ## every test of selftests/real; "selftests/real/run NAME..." runs some
	@scripts/setup base perf test real
	@selftests/real/run --all

check-list: ## name the parts, and which of these commands has each
	@scripts/check --list

series: ## write the commits of out/series/* back to patches/
	@scripts/series write

check-series: ## do the patches apply, and are they the project's files?
	@scripts/setup base
	@scripts/check-series orig

kernel: ## build out/kernel/bzImage, a small kernel for scripts/vm; LINUX=6.12: kernel-6.12
	@scripts/setup base vm
	@scripts/build-kernel patched

kernel-stock: ## the same without the patches: out/kernel-stock/bzImage
	@scripts/setup base vm
	@scripts/build-kernel stock

kernel-first: ## the same with the first of the series only: out/kernel-first/bzImage
	@scripts/setup base vm
	@scripts/build-kernel first

kernel-debug: ## the first with KASAN, UBSAN and lockdep: out/kernel-debug/bzImage
	@scripts/setup base vm
	@scripts/build-kernel debug

kernel-kcsan: ## the first with KCSAN, which finds data races: out/kernel-kcsan/bzImage
	@scripts/setup base vm
	@scripts/build-kernel kcsan

kmod: ## build out/kmod/<release>/perf_hybrid.ko; KDIR=<kernel build directory>
	@scripts/setup base
	@scripts/kmod "$(KDIR)"

dkms: ## make out/dkms/perf-hybrid-<version>, for "dkms add"
	@scripts/setup base
	@scripts/dkms-tree

release: ## make out/release/perf-hybrid-<version>.tar.xz of the last commit
	@scripts/setup base
	@scripts/release

portable: ## make out/portable/perf-hybrid-<version>-x86_64.tar.xz: perf for any Linux
	@scripts/setup base perf install
	@scripts/portable

deb: ## make out/deb/perf-hybrid_<version>_amd64.deb and perf-hybrid-dkms_<version>_all.deb
	@scripts/setup base perf install
	@scripts/deb

plugin: ## build out/plugin/plugin_perf_hybrid.so, libtraceevent's
	@scripts/setup base perf
	@$(MAKE) -s -C tools-perf/plugin OUT=$(CURDIR)/out/plugin

variants: ## compile the kernel series in other configurations, and run sparse
	@scripts/setup base vm test variants
	@scripts/kernel-steps variants

bisect: ## build perf and the kernel at every patch of the series
	@scripts/setup base perf vm
	@scripts/build-perf bisect
	@scripts/kernel-steps bisect

# The kernel source, its packages and other systems stay: they cost a download. Work that is
# only in out/series stays too.
clean: ## remove what was built; "rm -rf out" removes the downloads as well
	@cd out 2>/dev/null || exit 0; for d in *; do \
		case $$d in apt|debian|linux-*|roots|series) ;; *) rm -rf "$$d" ;; esac; done
