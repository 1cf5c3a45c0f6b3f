# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# Part of selftests/callchain/run-tests: a kernel with KCSAN (make kernel-kcsan), which runs
# hostile programs while it looks for data races.
# shellcheck disable=SC2154,SC2317 # run-tests sets them; called by ok

# What KCSAN must be able to see: instrumented objects of ours, in the kernel and the module.
kcsan_objects()
{
	local object nr=0

	for object in arch/x86/kernel/unwind_user/unwind_user_code.o \
		arch/x86/kernel/unwind_user/x86_frame_cache.o kernel/events/unwind_rules.o \
		kernel/events/unwind_table/table.o; do
		nm "$out/build/$built/$object" | grep -q ' U __tsan_' || { echo "$object: none"; return 1; }
		nr=$((nr + 1))
	done
	echo "$nr objects"
}

# The functions of these in the kernel; those of the module are told by its name. Of files
# that the series changes, the functions that it changes.
our_functions()
{
	local build=$out/build/$built

	{
		nm "$build"/arch/x86/kernel/unwind_user/*.o "$build"/kernel/events/unwind_{rules,lookup}.o \
			"$build/kernel/unwind/user.o"
		nm "$build/arch/x86/events/core.o" "$build/kernel/events/core.o" |
			grep -E ' (perf_callchain_user|perf_user_|perf_sample_(time_left|save_unwind_regs))'
	} | awk '$2 ~ /^[tT]$/ { sub(/\..*/, "", $3); print $3 }' | sort -u
}

# Of all the reports of data races those in which one of the two accesses is made by a
# function of ours, as the title says, and reports of other kinds. The others are of the
# rest of the kernel.
no_races()
{
	our_functions > "$work/functions"
	[ -s "$work/functions" ] || return
	cp "$work/kcsan" "$out/selftests/callchain/kcsan.log"
	awk '
	NR == FNR { ours[$1] = 1; next }
	{ sub(/^\[[^]]*\] /, "") }
	/^BUG: KCSAN: / {
		all++
		is_ours = /perf_unwind/
		for (i = 4; i <= NF; i++) {
			name = $i
			sub(/[.+].*/, "", name)
			if (name in ours)
				is_ours = 1
		}
		# Both count in pagefault_disable(), and an interrupt restores that: functions of
		# the unpatched kernel have the same race.
		if (gsub(/ (arch_perf_unwind_walk|perf_callchain_user|copy_from_user_nofault|copy_from_user_nmi|copy_fpstate_to_sigframe|restore_fpregs_from_user|__fpu_restore_sig)/, "&") == 2)
			is_ours = 0
		found += is_ours
	}
	/^======/ { is_ours = 0 }
	/^setup_watchpoints: / { watched = $2 }
	is_ours { print }
	/cut here|Oops: |BUG: |UBSAN: |INFO: task / && !/BUG: KCSAN: / { other++; print }
	END {
		print all + 0 " data races at " watched + 0 " watchpoints, " found + 0 " ours"
		exit found || other || watched < 1000
	}' "$work/functions" "$work/kcsan"
}

# under_kcsan SECONDS: of each program. The console would take longer than they do.
under_kcsan()
{
	local calls=$out/selftests/truth/calls.nofp name names=(bpf-stacks rules hostile
		rules-fuzz rules-fuzz-2 rules-attack table-memory with_rules removal)

	ok "our objects are watched" kcsan_objects
	ok "a program of known chains builds" make -s -C "$here/selftests/truth" \
		OUT="$out/selftests/truth" "$calls"
	guest kcsan-on kcsan on
	guest bpf-stacks bpf-stacks
	guest rules rules
	guest hostile hostile "$1"
	guest rules-fuzz watched rules-fuzz "$1"
	guest rules-fuzz-2 watched rules-fuzz "$1" 77
	guest rules-attack watched rules-attack "$1"
	guest table-memory watched table-memory "$1" "$table_kbytes"
	guest with_rules with_rules "$calls"
	guest removal removal "$out/kernel-kcsan$at/perf_unwind_rules.ko"
	guest kcsan kcsan said
	boot_kernel kernel-kcsan --append loglevel=3
	for name in kcsan-on "${names[@]}" kcsan; do
		ok "$name: run" ran "$name"
	done
	ok "updates that lie are taken, and give chains" fuzzed rules-fuzz
	ok "an ordinary user's attacks leave nothing in a table" attacked rules-attack
	ok "hostile chains are bounded" hostile_bounded
	ok "no data race of ours" no_races
}
