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
	# Lines 14 to 16 of the program are the loop of p_spin_of_loop.
	ok "$name: perf script has file and line" has_source_line functions.data \
		'rb::Object#p_spin_of_loop:' 'truth\.rb:1[456]$'
	ok "$name: --hide-evaluator leaves out what runs them" hides_evaluator functions.data
	without_functions "$name" Ruby rb:: ruby "$here/selftests/ruby/truth.rb" 1
	compiled_ruby
}

# Methods that YJIT has compiled, if this ruby was built with YJIT.
compiled_ruby()
{
	local name="Ruby's methods, compiled"

	if ! ruby --yjit -e 'exit RubyVM::YJIT.enabled?' 2> /dev/null; then
		tap_skip "$name" "this ruby does not compile"
		return
	fi
	record yjit.data ruby --yjit "$here/selftests/ruby/truth.rb" 4
	ok "$name" "$here/selftests/python/judge" --ruby --min-whole 95 "$perf" yjit.data
}

# A library that says it is CRuby: perf ends, and its file is small enough.
ruby_lies()
{
	builds "libliar.so" gcc -O1 -Wall -Wextra -fPIC -shared -o libliar.so \
		"$here/selftests/ruby/liar.c" -lpthread || return
	echo 'int liar(int, char **); int main(int n, char **v) { return liar(n, v); }' > liar.c
	# shellcheck disable=SC2016 # for the linker
	builds "liar" gcc -o liar liar.c -L. -lliar '-Wl,-rpath,$ORIGIN' || return
	all_lies "Ruby that lies" rb_vm_exec circles nowhere names
}
