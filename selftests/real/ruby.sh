# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# shellcheck disable=SC2154 # real.sh sets what is shared
#
# Ruby: the methods of a program, by name; and a process that says it is CRuby.

test_ruby()
{
	need ruby ruby "Ruby" || return
	if ! ruby -e 'exit %w[3.1 3.3].include?(RUBY_VERSION[/\d+\.\d+/])'; then
		tap_skip "Ruby" "$(ruby -e 'print RUBY_VERSION') is not known: 3.1 and 3.3 are"
		return
	fi
	record functions.data ruby "$here/selftests/ruby/truth.rb" 5
	complete "Ruby" functions.data 100 99
	ruby_functions
	ruby_lies
	next_ruby
}

# The ruby of the next Debian, 3.3, has no symbols of its evaluator and its threads.
next_ruby()
{
	local name="Ruby 3.3's methods" root=$out/selftests/ruby

	if [ "$(id -u)" -ne 0 ]; then
		tap_skip "$name" "only root can chroot"
		return
	fi
	ok "a Ruby 3.3" own_root "$root" usr/bin/ruby3.3 ruby3.3 libruby3.3 libcrypt1 libgmp10 zlib1g
	cp "$here/selftests/ruby/truth.rb" "$root/truth.rb"
	record next.data chroot "$root" /usr/bin/ruby3.3 --disable-gems /truth.rb 4
	! grep -q '^hybrid: BPF walked' next.data.log ||
		ok "$name" "$here/selftests/python/judge" --ruby --min-whole 95 "$perf" next.data
	# Its libc is another root's.
	rm -f next.data
}

# Whole chains of methods: fewer than asked of a quiet machine, as the first samples come before
# perf has found the interpreter. BPF reads the methods.
ruby_functions()
{
	local name="Ruby's methods"

	if ! grep -q '^hybrid: BPF walked' functions.data.log; then
		tap_skip "$name" "no BPF here"
		return
	fi
	ok "$name" "$here/selftests/python/judge" --ruby --min-whole 95 "$perf" functions.data
	ok "$name: with their classes" has_chain functions.data \
		'rb::Version#p_compare_of_operator:.*>rb::Version#<=>:.*>rb::Array#sort>rb::Object#p_'
	ok "$name: perf script has file and line" has_ruby_line functions.data
	ok "$name: --hide-evaluator leaves out what runs them" hides_evaluator functions.data
	record plain.data --no-interpreter-frames ruby "$here/selftests/ruby/truth.rb" 1
	ok "$name: not with --no-interpreter-frames" no_method plain.data
	record dumps.data --no-kernel-walk ruby "$here/selftests/ruby/truth.rb" 1
	ok "$name: without BPF perf says that it shows none" \
		grep -q '^hybrid: functions of Ruby are not shown' dumps.data.log
}

no_method()
{
	! "$perf" script -i "$1" -F ip,sym 2> /dev/null | grep -m 1 'rb::'
}

# Lines 14 to 16 of the program are the loop of p_spin_of_loop.
has_ruby_line()
{
	local said

	said=$("$perf" script -i "$1" -F ip,sym,srcline 2> /dev/null |
		grep -A 1 'rb::Object#p_spin_of_loop:' | grep -v -e rb:: -e '^--' | sort -u)
	grep -q 'truth\.rb:1[456]$' <<< "$said" && return
	head -n 10 <<< "$said"
	return 1
}

# A library that says it is CRuby: perf ends, and its file is small enough.
ruby_lies()
{
	local kind

	builds "libliar.so" gcc -O1 -Wall -Wextra -fPIC -shared -o libliar.so \
		"$here/selftests/ruby/liar.c" -lpthread || return
	echo 'int liar(int, char **); int main(int n, char **v) { return liar(n, v); }' > liar.c
	# shellcheck disable=SC2016 # for the linker
	builds "liar" gcc -o liar liar.c -L. -lliar '-Wl,-rpath,$ORIGIN' || return
	for kind in circles nowhere names; do
		ok "Ruby that lies: $kind" lies "$kind" rb_vm_exec
		rm -f lies.data
	done
}
