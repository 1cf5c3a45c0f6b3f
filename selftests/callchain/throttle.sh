# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# Part of selftests/callchain/run-tests: does the kernel's throttle lower the rate of samples
# that are taken in NMI? Only if QEMU counts instructions: then a sample takes as long on any
# machine. A processor is taken for one that runs 4 instructions in a nanosecond.
# shellcheck disable=SC2154,SC2034,SC2317 # run-tests sets them; called by ok

throttled_programs=(cc1 python3 node)

plan_throttle()
{
	local ko=$out/selftests/callchain/precise-pmu-$built/nmi_pmu.ko
	local source=$here/selftests/callchain/fuzz/registers.c

	guest throttle-cc1 throttle "$ko" 4 gcc -O2 -S -o /dev/null "$source"
	guest throttle-python3 throttle "$ko" 4 /usr/bin/python3 -c \
		'import json, re, textwrap; [re.sub("a+b", str, textwrap.fill(json.dumps([i] * 9), 9)) for i in range(3000)]'
	guest throttle-node throttle "$ko" 4 node -e \
		'for (let i = 0; i < 2000; i++) JSON.parse(JSON.stringify([i, "a".repeat(i)])).sort()'
	# Nothing but searches that take as long as they may, for a minute
	guest throttle-hostile throttle "$ko" 4 "$out/selftests/callchain/long-search" 60
	# A processor that is too slow for any bound: the throttle does what it is for.
	guest throttle-slow throttle "$ko" 1 gcc -O2 -S -o /dev/null "$source"
}

# enough_samples NAME; sets $before and $after
enough_samples()
{
	local samples

	read -r samples before after < "$work/$1"
	echo "$samples samples, perf_event_max_sample_rate $before, then $after"
	[ "$samples" -ge 1000 ]
}

same_rate()
{
	local before after

	enough_samples "$1" && [ "$after" -eq "$before" ]
}

lower_rate()
{
	local before after

	enough_samples "$1" && [ "$after" -lt "$before" ]
}

throttle()
{
	local name vm_limit=7200

	plan_throttle
	# A microvm has no clock to check the TSC by. If the kernel does not trust the TSC, timers
	# expire at ticks only, 1,000 times a second.
	boot_kernel kernel --cpus 1 --memory 2048 --append tsc=reliable --qemu=-icount --qemu=shift=0
	for name in "${throttled_programs[@]}" hostile; do
		ok "$name, sampled in NMI: run" ran "throttle-$name"
		ok "... the kernel does not lower the rate" same_rate "throttle-$name"
	done
	ok "cc1 on a processor that takes four times as long: run" ran throttle-slow
	ok "... the kernel lowers the rate" lower_rate throttle-slow
}
