# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# shellcheck disable=SC2154 # real.sh sets what is shared
#
# PHP, Ruby and LuaJIT: the interpreters' own frames, and what counts as complete
# where they compile.

# ends_at_start FILE: what counts as complete has where a thread begins as its last
# frame; but for a few in the dynamic linker's own start.
ends_at_start()
{
	local whole found

	whole=$(($(outcome "$1" complete) + $(outcome "$1" stitched)))
	found=$(chains_of "$1" | grep -cE '(^|>)(_start|__clone|clone3)>$')
	echo "$whole complete, $found end where a thread begins"
	closing "$1"
	[ "$found" -ge $((whole - 2 - whole / 200)) ]
}

# Samples of what PHP compiled need BPF, or are no chains; then they don't say that they are.
compiled_php()
{
	local options=(-d opcache.enable_cli=1 -d opcache.jit_buffer_size=64M -d opcache.jit=tracing)

	if ! php "${options[@]}" -r 'exit(opcache_get_status()["jit"]["on"] ? 0 : 1);' 2> /dev/null; then
		tap_skip "PHP, compiled" "this php does not compile"
		return
	fi
	record php-jit.data php "${options[@]}" program.php 1
	ok "PHP, compiled: what is complete ends at the start" ends_at_start php-jit.data
}

interpreted_php()
{
	need php-cli php "PHP" || return
	cat > program.php <<- 'END'
	<?php
	function compare($x, $y) { return $x - $y; }
	function sorted($n) { $a = range(1, $n); shuffle($a); usort($a, 'compare'); return $a[0]; }
	$end = microtime(true) + (float)$argv[1];
	$sum = 0;
	while (microtime(true) < $end) {
		$sum += sorted(300);
		for ($i = 0; $i < 5000; $i++) $sum = ($sum * 31 + $i) % 1000003;
	}
	END
	mode=hybrid,32768 record php.data php -d opcache.jit=off program.php 1
	complete "PHP, hybrid,32768" php.data 100 99.5
	ok "PHP: what is complete ends at the start" ends_at_start php.data
	# php_execute_script() alone takes more.
	mode=hybrid,8192 record php8k.data --no-kernel-walk php -d opcache.jit=off program.php 1
	ok "PHP: 8 KiB are too little, perf says what is not" grep -q \
		'% of the stacks are deeper than 8192 bytes: --call-graph hybrid,32768 shows more' \
		php8k.data.log
	compiled_php
}

interpreted_ruby()
{
	need ruby ruby "Ruby" || return
	cat > program.rb <<- 'END'
	def sorted(n) = (1..n).to_a.shuffle.sort { |a, b| a <=> b }.first
	stop = Time.now + ARGV[0].to_f
	while Time.now < stop
	  sorted(300)
	  (0...500).inject(0) { |s, i| (s * 31 + i) % 1000003 }
	end
	END
	mode=hybrid,32768 record ruby.data ruby program.rb 1
	complete "Ruby" ruby.data 100 99.5
	ok "Ruby: what is complete ends at the start" ends_at_start ruby.data
}

# One row of CFI covers its interpreter, and is wrong in what that calls.
interpreted_lua()
{
	need luajit luajit "LuaJIT" || return
	cat > program.lua <<- 'END'
	local stop = os.clock() + tonumber(arg[1])
	while os.clock() < stop do
	    local sum, t = 0, {}
	    for i = 1, 2000 do sum = (sum * 31 + i) % 1000003 end
	    for i = 1, 200 do t[i] = (i * 7919) % 521 end
	    table.sort(t, function(a, b) return a < b end)
	end
	END
	record lua.data luajit -joff program.lua 1
	complete "LuaJIT's interpreter" lua.data 100 96
	ok "LuaJIT: what is complete ends at the start" ends_at_start lua.data
	record lua-jit.data luajit program.lua 1
	ok "LuaJIT, compiled: what is complete ends at the start" ends_at_start lua-jit.data
}

test_interpreters()
{
	# shellcheck disable=SC2034 # record reads it
	local event=cpu-clock:u

	interpreted_php
	interpreted_ruby
	interpreted_lua
}
