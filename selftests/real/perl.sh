# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# shellcheck disable=SC2154 # real.sh sets what is shared
#
# Perl: the subs of a program, by name; and a process that says it is Perl.

test_perl()
{
	need perl perl "Perl" || return
	if ! perl -MConfig -e 'exit !($] =~ /^5\.0(36|40|42)/ && $Config{useithreads})'; then
		tap_skip "Perl" "$(perl -e 'print $^V') is not known: 5.36, 5.40 and 5.42 are"
		return
	fi
	record functions.data perl "$here/selftests/perl/truth.pl" 5
	complete "Perl" functions.data 100 99
	perl_functions
	perl_evals
	perl_lies
}

# Fewer than asked of a quiet machine, as the first samples come before perf has found the
# interpreter. BPF reads the subs.
perl_functions()
{
	local name="Perl's subs" line

	if ! grep -q '^hybrid: BPF walked' functions.data.log; then
		tap_skip "$name" "no BPF here"
		return
	fi
	ok "$name" "$here/selftests/python/judge" --perl --min-whole 95 "$perf" functions.data
	ok "$name: with their packages, and native frames between" has_chain functions.data \
		'pl::Number::c_add_of_overload:.*>Perl_amagic_call>.*pl::main::p_overload_of_round:'
	ok "$name: in what C code calls" has_chain functions.data \
		'pl::main::p_tried_of_try:[^>]*>pl::main::c_try_of_catch:[^>]*>pl::main::__ANON__:'
	ok "$name: of files" has_chain functions.data \
		'p_required_of_require:[^>]*>pl::\(require\):[^>]*>pl::main::p_require_of_round:'
	# The loop of p_spin_of_loop is five lines behind its name.
	line=$(grep -n '^sub p_spin_of_loop' "$here/selftests/perl/truth.pl" | cut -d : -f 1)
	ok "$name: perf script has file and line" has_source_line functions.data \
		pl::main::p_spin_of_loop: "truth\.pl:$((line + 5))\$"
	ok "$name: --hide-evaluator leaves out what runs them" hides_evaluator functions.data
	# shellcheck disable=SC2016 # Perl's variables
	short_runs "$name" Perl_runops_standard pl:: 50 perl -e \
		'sub spin { my $i = 0; $i++ for 1 .. 200; $i } spin() while (times)[0] < 0.06'
	perl_clones "$name"
	without_functions "$name" Perl pl:: perl "$here/selftests/perl/truth.pl" 1
}

# A thread that makes another one copies its interpreter, and destroys the copy later.
perl_clones()
{
	# shellcheck disable=SC2016 # it is Perl
	record clones.data perl -e 'use threads; use POSIX;
		sub begin { threads->create(sub { 1 })->join }
		begin() while (times)[0] < 1'
	ok "$1: of a thread that copies its interpreter" has_share clones.data \
		'>perl_(clone|destruct)>' '>pl::main::begin:' 90
	rm -f clones.data
}

# Subs stand at the evaluator that has called them, if an eval has begun one more.
perl_evals()
{
	local name="Perl's evals in what C code calls" of
	local run='Perl_runops_standard>' inner='>[^:>]*>Perl_runops_standard>' at=':[^>]*'
	local -A runs=(
		[in_first]="pl::main::first_eval$at${inner}pl::main::first_eval$at"
		[in_deeper]="pl::main::deeper_eval$at>pl::main::outer_eval$at${inner}pl::main::outer_eval$at"
		[in_later]="pl::main::later_eval$at>pl::main::ended_eval$at"
		[after_eval]="pl::main::no_eval$at"
		[in_text]="pl::[(]eval[)]${inner}pl::main::text_eval$at"
		[in_block]="pl::[(]program[)]$at${inner}"
	)

	if ! grep -q '^hybrid: BPF walked' functions.data.log; then
		tap_skip "$name" "no BPF here"
		return
	fi
	record evals.data perl "$here/selftests/perl/docatch.pl" 4
	complete "$name" evals.data 100 99
	for of in "${!runs[@]}"; do
		ok "$name: $of()" has_share evals.data "pl::main::$of:" \
			"${run}(pl::main::spin$at>)?pl::main::$of$at>${runs[$of]}>?pl::[(]program[)]" 99
	done
}

# A program that says it is Perl: perf ends, and its file is small enough.
perl_lies()
{
	builds "liar" gcc -O1 -Wall -Wextra -rdynamic -o liar "$here/selftests/perl/liar.c" \
		-lpthread || return
	all_lies "Perl that lies" Perl_runops_standard circles nowhere names
}
