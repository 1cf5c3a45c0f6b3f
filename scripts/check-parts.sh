# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# The parts of scripts/check, in the order in which they run: what is quick and
# says most comes first.
# shellcheck disable=SC2154 # scripts/check sets $here and $quick

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

parts()
{
	part build quick tap builds perf perf-stock
	part style quick tap scripts/check-style
	if [ -n "$quick" ]; then
		part series quick tap scripts/check-series
	else
		part series quick tap scripts/check-series orig
	fi
	part unit quick tap make -s -C tools-perf/test check
	part asan quick tap make -s -C tools-perf/test asan
	part fuzz full tap make -s -C tools-perf/test fuzz
	part frame quick tap frame
	# Without the word: all programs in all builds.
	part truth quick tap selftests/truth/run ${quick:+--quick}
	part perf-test quick perf perf_test
	part compat full tap selftests/compat/run
	part perf-suite full tap selftests/perf-suite/run
	part kernel full tap builds kernel kernel-stock kernel-debug
	part vm full tap selftests/vm/run-tests
	part callchain full tap selftests/callchain/run-tests
	part module full tap selftests/module/run-tests
}
