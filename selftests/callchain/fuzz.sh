# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# Part of selftests/callchain/run-tests: the fuzzer, on kernels that report their mistakes.
# shellcheck disable=SC2154,SC2034,SC2317 # run-tests sets them; guest.sh and ok use them

# plan_fuzz SEED STOP: rounds until the file STOP is there; at least one of each job.
plan_fuzz()
{
	guest fuzz fuzz "$2" "$1" "$out/selftests/callchain/precise-pmu-$built/nmi_pmu.ko"
}

# done_what NAME: how much of it was done.
done_what()
{
	awk -v name="$1" '{ nr = $1; sub(/^[0-9]+ /, "") } $0 == name { print nr; exit }' "$work/fuzz"
}

# All jobs ran and sampled, no process hung, and no callchain is longer than it may be.
fuzzed_all()
{
	local name

	paste -sd, "$work/fuzz" | sed 's/,/, /g'
	for name in registers probes mappings rules attacks hostile; do
		[ "$(done_what "rounds of $name")" -ge 1 ] || { echo "no round of $name"; return 1; }
	done
	for name in samples frames deferred by_rules attempts probes bpf_stacks mappings in_nmi; do
		[ "$(done_what "$name")" -ge 1 ] || { echo "no $name"; return 1; }
	done
	for name in too_long stuck failed; do
		[ "$(done_what "$name")" -eq 0 ] || { echo "$name"; return 1; }
	done
}

# stop_after SECONDS FILE: by this machine's clock. Sets $stopper.
stop_after()
{
	rm -f "$2"
	(
		left=$1
		while [ "$left" -gt 0 ]; do
			sleep 1
			left=$((left - 1))
		done
		: > "$2"
	) > /dev/null 2>&1 &
	stopper=$!
}

# What the fuzzer leaves behind: a kernel whose callchains are right.
still_right()
{
	every_instruction
	a_probe
}

# fuzz_kernel KERNEL SECONDS SEED: for so long, its boot with it.
fuzz_kernel()
{
	local kernel=$1 stop=$out/selftests/callchain/fuzz-stop-$1 options=()
	local test_limit=1000000 vm_limit=$(($2 + 7200))

	built=$kernel$at
	ok "$kernel: a PMU for the tests builds" build_precise_pmu
	[ "$kernel" != kernel-kcsan ] || guest kcsan-on kcsan on
	plan_fuzz "$3" "$stop"
	if [ "$kernel" = kernel-kcsan ]; then
		guest kcsan kcsan said
		# The console would take longer than the programs do.
		options=(--append loglevel=3)
	fi
	guest kselftests kselftests
	guest hello hello
	stop_after "$2" "$stop"
	boot_kernel "$kernel" "${options[@]}"
	kill "$stopper" 2> /dev/null
	rm -f "$stop"
	ok "$kernel: fuzzed with seed $3: run" ran fuzz
	ok "$kernel: ... all jobs, and callchains are bounded" fuzzed_all
	echo "# $(fuzzed_all)"
	if [ "$kernel" = kernel-kcsan ]; then
		ok "$kernel: ... no data race of ours" no_races
	fi
	still_right
}

# fuzz SECONDS SEED KERNEL...: shared out evenly.
fuzz()
{
	local seconds=$1 seed=$2 kernel
	shift 2

	echo "# seed $seed"
	for kernel; do
		fuzz_kernel "$kernel" $((seconds / $#)) "$seed"
	done
}
