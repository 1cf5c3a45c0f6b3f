# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# The parts of scripts/check. In a lane they run in this order, one after the other; one that waits
# for another part lets those after it begin.
#
#   host     what samples or times programs of this machine, and the builds it needs: such a
#            part waits for its programs most of the time
#   both     the same, in host and in a second lane: any of these may run beside any of host. The
#            longest come first, so that none is alone at the end
#   style, sources  what needs nothing but the sources
#   kernels  building kernels, and the unpatched perf
#   vms, vms2  what runs in VMs, which take one processor each
#
# style and sources run at a lower priority until host is over.
# shellcheck disable=SC2154 # scripts/check sets $here, $short, $all and $other_linux

# with_seed COMMAND...: the same files each time, and others each night.
with_seed()
{
	SEED=${SEED:-${all:+$RANDOM$RANDOM}} "$@"
}

# builds TARGET...: each as one test; make's own output is in the log.
builds()
{
	local target rc=0

	echo "1..$#"
	for target; do
		if make -s --no-print-directory "$target"; then
			echo "ok - make $target"
		else
			echo "not ok - make $target"
			rc=1
		fi
	done
	return $rc
}

# The unpatched perf, to compare with. Not optimized, as nobody times it here, and without tables of
# events: that takes a quarter of the time. "make perf-stock" builds another one.
stock_perf()
{
	echo 1..1
	scripts/build-perf stock DEBUG=1 EXTRA_CFLAGS=-DNDEBUG=1 NO_JEVENTS=1 &&
		echo "ok - the unpatched perf"
}

# Once, before two parts want it at the same time.
source_part()
{
	echo 1..1
	scripts/kernel-source && echo "ok - the kernel source"
}

check_series()
{
	if [ -n "$short" ]; then
		scripts/check-series
	else
		ALL_PATCHES=$all scripts/check-series orig
	fi
}

# Files that the last 50 commits have not changed were checked before: all take ten minutes of a
# processor.
style()
{
	if [ -n "$all" ]; then
		scripts/check-style
	else
		scripts/check-style --recent
	fi
}

frame()
{
	COST_SECONDS=${all:+600} with_seed \
		make -s -C selftests/frame check LINUX="$(scripts/kernel-source)" OUT="$here/out"
}

# 12 seconds each; at night, a minute.
fuzz()
{
	make -s -C tools-perf/test fuzz SECONDS_EACH="$((all ? 60 : 12))"
}

table()
{
	make -s -C selftests/table check LINUX="$(scripts/kernel-source)" OUT="$here/out"
}

truth()
{
	case $short$all in
	"") selftests/truth/run --some ;;
	*) selftests/truth/run ${short:+--quick} ;;
	esac
}

# perf_test [COMMAND...]: by that command. From perf's source: in the build directory
# stand logs in place of shell tests. With perf record's other options there are fifty
# recordings: four minutes of a processor.
perf_test()
{
	local perf=$PWD/out/bin/perf tests=(hybrid to-pprof "only in callchains")

	[ -n "$all" ] || tests=("hybrid: chains" "hybrid: bad" "hybrid of"
		"hybrid while" "hybrid unwinding" to-pprof "only in callchains")
	cd out/series/perf/tools/perf && "$@" "$perf" test -v "${tests[@]}"
}

# The same with half of one processor, where that can be set.
slow_perf_test()
{
	local status=0

	perf_test "$here/scripts/slow" 50 || status=$?
	[ $status -eq 77 ] || return $status
	echo "  1: tests of perf on a slow machine : Skip"
}

# On Linux 6.12 what the series does at all, once.
callchain_6_12()
{
	with_linux 6.12 builds kernel && with_linux 6.12 selftests/callchain/run-tests short
}

# What is about that Linux only.
of_linux()
{
	part source check,kernel tap host "" source_part
	part build check,kernel tap host source builds perf perf-stock
	part kernel kernel tap host build with_linux "$1" builds kernel-stock kernel kernel-debug
	part callchain kernel tap vms kernel with_linux "$1" selftests/callchain/run-tests
	part kasan kernel tap vms2 kernel with_linux "$1" selftests/callchain/run-tests debug
}

of_host()
{
	part source check,kernel tap host "" source_part
	part build check,kernel tap host source builds perf
	# Of two perf trace at once, as in docs, one shows no ends of system calls (unpatched, too).
	part perf-test check perf host build perf_test
	part docs check tap both "build stock perf-test" selftests/docs/run
	part truth check tap both build truth
	part fibers check tap both build selftests/fibers/run
	part isolation check tap both build selftests/isolation/run
	part callers check tap both build selftests/callers/run ${all:+--all}
	part bpf check tap host build selftests/bpf/run
	part bpf-files ci tap host build selftests/bpf/files
	part off-cpu ci tap host build selftests/bpf/off-cpu
	part judge check tap both build selftests/judge/run
	part names check tap both build selftests/names/run
	part language ci tap both build selftests/language/run
	part build-ids ci tap host build selftests/build-ids/run
	part ends check tap both build selftests/ends/run
	part hostile ci tap host build selftests/hostile/run
	part hostile-files ci tap host build selftests/hostile/files
	part damaged ci tap host build with_seed selftests/hostile/damaged ${all:+1000}
	part replay ci tap host build selftests/replay/run
	part real ci tap host build selftests/real/run
	part flame ci tap both build selftests/flame/run
	# With [test] its commands run programs that docs runs, too.
	part packages ci tap both "build docs" selftests/packages/run
	part open ci tap both build selftests/open/run
	part pprof ci tap both build selftests/pprof/run
	part fleet ci tap host build selftests/fleet/run
	part identity ci tap host "build stock" selftests/isolation/identity
	part users ci tap host "build stock" selftests/isolation/users
	part mutated ci tap both "build stock" with_seed selftests/mutated/run ${all:+10000}
	part compat kernel tap both "build stock" selftests/compat/run
	part perf-suite kernel tap host "build stock" selftests/perf-suite/run
	part perf-test-slow all perf host build slow_perf_test
	part portable all tap host build selftests/portable/run
	part deb all tap host portable selftests/deb/run
	part wrapped all tap host portable selftests/wrapped/run
	part source-package all tap host build selftests/source-package/run
}

of_sources()
{
	part style check tap style "source build" style
	part setup ci tap sources source selftests/setup/run
	part awk ci tap sources "${all:+build}" selftests/awk/run ${all:+--all}
	part series kernel tap style source check_series
	part layers check tap sources "" scripts/check-layers
	part figures check tap sources "" scripts/check-figures
	# Not in --ci: asan has the same tests.
	part unit check,all tap sources source make -s -C tools-perf/test check
	part asan check tap sources source make -s -C tools-perf/test asan
	part frame ci tap sources source frame
	part table ci tap sources source table
	part suite-judge ci tap sources "" selftests/perf-suite/selftest
	part release ci tap sources source selftests/release/run
	part precise ci tap sources build selftests/precise/run ${all:+--all}
	part fuzz ci tap sources source fuzz
	part mutate all tap sources "source unit asan" scripts/mutate --tap
}

# One kernel, with KASAN and lockdep, serves all of make check-kernel.
of_kernels()
{
	part kernel kernel tap kernels source builds kernel-debug
	# Parts of the lane host wait for it, so that it is not in sources, which has a lower priority.
	part stock kernel tap kernels source stock_perf
	part vm kernel tap vms "kernel build" selftests/vm/run-tests
	part callchain kernel tap vms "kernel build" selftests/callchain/run-tests check
	part module kernel tap vms2 "kernel build" selftests/module/run-tests check
	part kernels all tap kernels source builds kernel-stock kernel kernel-first kernel-kcsan
	part kasan all tap vms "kernel build" selftests/callchain/run-tests debug
	part kcsan all tap vms2 "kernels build" selftests/callchain/run-tests kcsan
	part fuzz-kernel all tap vms2 "kernels build" selftests/callchain/run-tests fuzz 3600
	part callchain-all all tap vms "kernels build" selftests/callchain/run-tests
	part module-all all tap vms2 "kernels build" selftests/module/run-tests
	part module-kernels all tap vms2 build selftests/module/run-kernels
	part callchain-6.12 all tap vms2 "kernels build" callchain_6_12
	part precise-bpf all tap vms build selftests/precise/run-bpf
	part hostile-vm all tap vms2 build selftests/hostile/run-vm
	part matrix all tap vms2 "stock kernels callchain-6.12" selftests/matrix/run
}

all_parts()
{
	if [ -n "$other_linux" ]; then
		of_linux "$other_linux"
		return
	fi
	of_host
	of_sources
	of_kernels
}
