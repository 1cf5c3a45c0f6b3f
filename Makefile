# SPDX-License-Identifier: GPL-2.0
#
# Everything is built in out/. "make help" lists what there is to make.

SHELL := /bin/bash
.DELETE_ON_ERROR:
# The parts share two cores and one log each: one after the other.
.NOTPARALLEL:

.PHONY: help setup perf perf-stock demo bench check check-quick check-list \
	series check-series kernel kernel-stock kernel-debug bisect kmod dkms plugin clean

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

demo: perf ## record one program with fp, dwarf and hybrid, and compare
	@scripts/demo

bench: perf perf-stock ## measure; BENCH="NAME..." picks some
	@scripts/setup test
	@scripts/bench $(BENCH)

check: ## set up all that is needed and run every test
	@scripts/setup
	@scripts/check

check-quick: ## the tests that need no VM and no download
	@scripts/check --quick

check-list: ## name the parts of check; "scripts/check PART..." runs some
	@scripts/check --list

series: ## write the commits of out/series/* back to patches/
	@for name in perf kernel; do \
		[ ! -e out/series/$$name/.git/series-key ] || \
			scripts/series write $$name || exit 1; \
	done

check-series: ## do the patches apply, and are they the project's files?
	@scripts/setup base
	@scripts/check-series orig

kernel: ## build out/kernel/bzImage, a small kernel for scripts/vm
	@scripts/setup base vm
	@scripts/build-kernel patched

kernel-stock: ## the same without the patches: out/kernel-stock/bzImage
	@scripts/setup base vm
	@scripts/build-kernel stock

kernel-debug: ## the first with KASAN, UBSAN and lockdep: out/kernel-debug/bzImage
	@scripts/setup base vm
	@scripts/build-kernel debug

kmod: ## build out/kmod/<release>/perf_hybrid.ko; KDIR=<kernel build directory>
	@scripts/setup base
	@scripts/kmod "$(KDIR)"

dkms: ## make out/dkms/perf-hybrid-<version>, for "dkms add"
	@scripts/setup base
	@scripts/dkms-tree

plugin: ## build out/plugin/plugin_perf_hybrid.so, libtraceevent's
	@scripts/setup base perf
	@$(MAKE) -s -C tools-perf/plugin OUT=$(CURDIR)/out/plugin

bisect: ## build perf and the kernel at every patch of the series
	@scripts/setup base perf vm
	@scripts/build-perf bisect
	@scripts/build-kernel bisect

# The kernel source and its packages stay: they cost a download. Work that is
# only in out/series stays too.
clean: ## remove what was built; "rm -rf out" removes the downloads as well
	@cd out 2>/dev/null || exit 0; for d in *; do \
		case $$d in apt|debian|linux-*|series) ;; *) rm -rf "$$d" ;; esac; done
