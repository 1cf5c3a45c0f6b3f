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
	perl_lies
}

# Fewer than asked of a quiet machine, as the first samples come before perf has found the
# interpreter. BPF reads the subs.
perl_functions()
{
	local name="Perl's subs"

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
	ok "$name: perf script has file and line" has_perl_line functions.data
	record plain.data --no-interpreter-frames perl "$here/selftests/perl/truth.pl" 1
	ok "$name: not with --no-interpreter-frames" no_sub plain.data
	record dumps.data --no-kernel-walk perl "$here/selftests/perl/truth.pl" 1
	ok "$name: without BPF perf says that it shows none" \
		grep -q '^hybrid: functions of Perl are not shown' dumps.data.log
}

no_sub()
{
	! "$perf" script -i "$1" -F ip,sym 2> /dev/null | grep -m 1 'pl::'
}

# By what the program says: the loop of p_spin_of_loop is two lines behind its name.
has_perl_line()
{
	local said line

	line=$(grep -n '^sub p_spin_of_loop' "$here/selftests/perl/truth.pl" | cut -d : -f 1)
	said=$("$perf" script -i "$1" -F ip,sym,srcline 2> /dev/null |
		grep -A 1 'pl::main::p_spin_of_loop:' | grep -v -e pl:: -e '^--' | sort -u)
	grep -q "truth\.pl:$((line + 5))\$" <<< "$said" && return
	head -n 10 <<< "$said"
	return 1
}

# A program that says it is Perl: perf ends, and its file is small enough.
perl_lies()
{
	local kind

	builds "liar" gcc -O1 -Wall -Wextra -rdynamic -o liar "$here/selftests/perl/liar.c" \
		-lpthread || return
	for kind in circles nowhere names; do
		ok "Perl that lies: $kind" perl_lie "$kind"
		rm -f lies.data
	done
}

perl_lie()
{
	local status=0

	timeout 60 "$perf" record "${rings[@]}" -e cpu-clock -F 1000 --call-graph hybrid \
		-o lies.data ./liar "$1" 2 > lies.log 2>&1 || status=1
	[ $status -eq 0 ] && [ "$(stat -c %s lies.data)" -lt 100000000 ] &&
		"$perf" script -i lies.data -F ip,sym 2> /dev/null > lies.script &&
		grep -q Perl_runops_standard lies.script &&
		! grep -q '[[:cntrl:]]' <(tr -d '\t\n' < lies.script) && return
	tail -n 3 lies.log
	return 1
}
