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

# have FILE [TARGET]: it exists, and if it is a makefile, has that target.
have()
{
	[ -e "$1" ] && { [ -z "${2:-}" ] || grep -qE "^([a-z-]+ )*$2( [a-z-]+)*:" "$1"; }
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
	if have tools-perf/test/Makefile check; then
		part unit quick tap make -s -C tools-perf/test check
	fi
	if have tools-perf/test/Makefile asan; then
		part asan quick tap make -s -C tools-perf/test asan
	fi
	if have tools-perf/test/Makefile fuzz; then
		part fuzz full tap make -s -C tools-perf/test fuzz
	fi
	if have selftests/frame/Makefile check; then
		part frame quick tap frame
	fi
	if have selftests/truth/run; then
		# Without the word: all programs in all builds.
		part truth quick tap selftests/truth/run ${quick:+--quick}
	fi
	if compgen -G 'tools-perf/shell/*hybrid*.sh' > /dev/null; then
		part perf-test quick perf perf_test
	fi
	if have selftests/compat/run; then
		part compat full tap selftests/compat/run
	fi
	if have selftests/perf-suite/run; then
		part perf-suite full tap selftests/perf-suite/run
	fi
	# Until there is a kernel series there is nothing of ours to boot.
	if compgen -G 'patches/7.3/kernel/*.patch' > /dev/null; then
		part kernel full tap builds kernel kernel-stock kernel-debug
		part vm full tap selftests/vm/run-tests
		part callchain full tap selftests/callchain/run-tests
	fi
}
