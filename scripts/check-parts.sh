# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# The parts of scripts/check, in the order in which they run: what is quick and
# says most comes first.
# shellcheck disable=SC2154 # scripts/check sets $here, $quick and $other_linux

# The parts that sample what runs on this machine, or step through it, and are short.
# shellcheck disable=SC2034 # scripts/check reads it
sampling="frame truth flame open docs perf-test real compat perf-suite"

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

frame()
{
	make -s -C selftests/frame check LINUX="$(scripts/kernel-source)" OUT="$here/out"
}

# From its source: in the build directory stand logs in place of shell tests.
# With perf record's other options there are fifty recordings: too long to be
# quick.
perf_test()
{
	local perf=$PWD/out/bin/perf tests=(hybrid)

	[ -z "$quick" ] || tests=("hybrid: chains" "hybrid: bad" "hybrid of stacks"
		"hybrid while" "hybrid unwinding")
	cd out/series/perf/tools/perf && "$perf" test -v "${tests[@]}"
}

# What needs nothing but the sources, and what runs programs: neither minds a
# busy machine.
of_sources()
{
	part style quick tap scripts/check-style
	if [ -n "$quick" ]; then
		part series quick tap scripts/check-series
	else
		part series quick tap scripts/check-series orig
	fi
	part frame quick tap frame
	part release full tap selftests/release/run
}

of_programs()
{
	part unit quick tap make -s -C tools-perf/test check
	part asan quick tap make -s -C tools-perf/test asan
	part fuzz full tap make -s -C tools-perf/test fuzz
	# Without the word: all programs in all builds.
	part truth quick tap selftests/truth/run ${quick:+--quick}
	part replay quick tap selftests/replay/run
	part flame full tap selftests/flame/run
	part open full tap selftests/open/run
	part docs full tap selftests/docs/run
}

# On Linux 6.12 what the series does at all, once.
callchain_6_12()
{
	with_linux 6.12 builds kernel && with_linux 6.12 selftests/callchain/run-tests short
}

# What is about that Linux only.
of_linux()
{
	part build quick tap builds perf perf-stock
	part kernel full tap with_linux "$1" builds kernel-stock kernel kernel-debug
	part callchain full tap with_linux "$1" selftests/callchain/run-tests
	part kasan full tap with_linux "$1" selftests/callchain/run-tests debug
}

# In a VM all processors are one of the host's.
of_kernel()
{
	part callchain full tap selftests/callchain/run-tests
	part kasan full tap selftests/callchain/run-tests debug
}

of_others()
{
	part module full tap selftests/module/run-tests
	part callchain-6.12 full tap callchain_6_12
}

# Perf's own tests and those of real programs and whole systems want the machine
# for themselves, the builds use all of it.
parts()
{
	if [ -n "$other_linux" ]; then
		of_linux "$other_linux"
		return
	fi
	part build quick tap builds perf perf-stock
	both of_sources of_programs
	part perf-test quick perf perf_test
	part real full tap selftests/real/run
	part compat full tap selftests/compat/run
	part perf-suite full tap selftests/perf-suite/run
	part kernel full tap builds kernel-stock kernel kernel-debug
	part vm full tap selftests/vm/run-tests
	both of_kernel of_others
	part matrix more tap selftests/matrix/run
}
