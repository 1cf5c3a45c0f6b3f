# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# shellcheck disable=SC2154 # real.sh sets what is shared
#
# PHP: the functions of a program, by name, interpreted and compiled; those of the next Debian's PHP;
# and a process that says it is PHP.

test_php()
{
	need php-cli php "PHP" || return
	if ! php -r 'exit(in_array(PHP_MAJOR_VERSION . "." . PHP_MINOR_VERSION, ["8.2", "8.4"])
	    && !PHP_ZTS ? 0 : 1);'; then
		tap_skip "PHP" "$(php -r 'print PHP_VERSION;') is not known: 8.2 and 8.4 without threads are"
		return
	fi
	record functions.data php "$here/selftests/php/truth.php" 5
	complete "PHP" functions.data 100 99
	php_functions
	php_late
	php_compiled
	php_lies
	next_php
}

# Whole chains of functions: fewer than asked of a quiet machine, as the first samples come before
# perf has found the interpreter. BPF reads the functions.
php_functions()
{
	local name="PHP's functions"

	if ! grep -q '^hybrid: BPF walked' functions.data.log; then
		tap_skip "$name" "no BPF here"
		return
	fi
	ok "$name" "$here/selftests/python/judge" --php --min-whole 97 "$perf" functions.data
	ok "$name: with their classes" has_chain functions.data \
		'php::Derived::p_static_of_method:.*>php::Derived::p_method_of_methods:.*>php::p_methods_'
	ok "$name: those in C, and what begins the program" has_chain functions.data \
		'php::c_order_of_sort:.*>execute_ex>php::usort>php::p_sort_of_round:.*>php::\{main\}:'
	# Lines 14 to 16 of the program are the loop of p_spin_of_loop().
	ok "$name: perf script has file and line" has_source_line functions.data \
		php::p_spin_of_loop: 'truth\.php:1[456]$'
	ok "$name: --hide-evaluator leaves out what runs them" hides_evaluator functions.data
	# shellcheck disable=SC2016 # it is PHP
	short_runs "$name" execute_ex php:: 50 php -r '
		function spin() { for ($i = 0; $i < 500; $i++); return $i; }
		function used() { return getrusage()["ru_utime.tv_usec"]; }
		for ($at = used(); used() < $at + 50000;) spin();'
	without_functions "$name" PHP php:: php "$here/selftests/php/truth.php" 1
}

# perf reads the samples when the process has ended: dumps show that a fiber's stack ends. What was
# compiled is gone.
php_late()
{
	grep -q '^hybrid: BPF walked' functions.data.log || return 0
	cat > late.sh <<- 'END'
	kill -STOP "$PPID"
	php -d pcre.jit=0 "$1" 1
	kill -CONT "$PPID"
	END
	record late.data sh late.sh "$here/selftests/php/truth.php"
	ok "PHP's fibers, of a process that has ended" has_no_cfi_left late.data
	rm -f late.sh late.data
}

# Samples, and none of them without CFI.
has_no_cfi_left()
{
	closing "$1"
	[ "$(outcome "$1" complete)" -gt 0 ] && [ "$(outcome "$1" "no CFI")" -eq 0 ]
}

# Code of opcache's JIT: its frames are those of execute_ex().
php_compiled()
{
	local options=(-d opcache.enable_cli=1 -d opcache.jit_buffer_size=64M) how

	if ! php "${options[@]}" -d opcache.jit=tracing \
		-r 'exit(opcache_get_status()["jit"]["on"] ? 0 : 1);' 2> /dev/null; then
		tap_skip "PHP, compiled" "this php does not compile"
		return
	fi
	grep -q '^hybrid: BPF walked' functions.data.log || return 0
	for how in disable tracing function; do
		record jit.data php "${options[@]}" -d opcache.jit=$how \
			"$here/selftests/php/truth.php" 4
		ok "PHP, opcache.jit=$how" "$here/selftests/python/judge" --php --min-whole 95 \
			"$perf" jit.data
		complete "PHP, opcache.jit=$how" jit.data 100 95
	done
}

# The php of the next Debian, 8.4.
next_php()
{
	local name="PHP 8.4's functions" root=$out/selftests/php

	if [ "$(id -u)" -ne 0 ]; then
		tap_skip "$name" "only root can chroot"
		return
	fi
	ok "a PHP 8.4" own_root "$root" usr/bin/php8.4 php8.4-cli libargon2-1 libpcre2-8-0 libxml2 \
		libssl3t64 zlib1g libsodium23 liblzma5 libzstd1
	cp "$here/selftests/php/truth.php" "$here/selftests/php/included.php" "$root/"
	record next.data chroot "$root" /usr/bin/php8.4 -n /truth.php 4
	! grep -q '^hybrid: BPF walked' next.data.log ||
		ok "$name" "$here/selftests/python/judge" --php --min-whole 95 "$perf" next.data
	# Its libc is another root's.
	rm -f next.data
}

# A program that says it is PHP: perf ends, and its file is small enough.
php_lies()
{
	builds "liar" gcc -O1 -Wall -Wextra -rdynamic -o liar "$here/selftests/php/liar.c" \
		-lpthread || return
	all_lies "PHP that lies" execute_ex circles nowhere names
}
