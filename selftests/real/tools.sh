# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# shellcheck disable=SC2154 # real.sh sets what is shared
#
# Programs as Debian has them: bash, make, gcc, gzip, openssl, sqlite3. No truth
# table says what is right: the share that reaches the outermost frame does, and
# what kept the rest, by object and reason.

# For "bash -c": a command again and again, for one second to two: what it takes
# depends on the processor.
for_a_time='until ((SECONDS >= 2)); do "$@" > /dev/null || exit; done'

tool_bash()
{
	cat > loop.bash <<- 'END'
	depth() { if [ "$1" -gt 0 ]; then depth $(($1 - 1)); else text=${text//a/b}; fi; }
	until ((SECONDS >= 2)); do
		text=$(printf 'a%.0s' {1..200})
		depth 12
		echo "$text" | tr a b > /dev/null
	done
	END
	# A shell function takes a kilobyte of the shell's stack.
	mode=hybrid,65528 record bash.data bash loop.bash
	no_stack_is_right=1 complete "bash, with subshells and pipes" bash.data 100 99.5
}

# Hundreds of processes, thousands with --all, each for a few milliseconds.
tool_make()
{
	local log=make.data.log jobs=${full:+2000}

	jobs=${jobs:-300}

	printf 'all: %s\n%%: ; @/bin/true $@ && /bin/echo $@ > /dev/null\n' \
		"$(seq -f 't%.0f' "$jobs" | tr '\n' ' ')" > short.mk
	# make's own stack is deeper than 8 KiB.
	mode=hybrid,16384 record make.data make -s -j4 -f short.mk
	no_stack_is_right=1 complete "make -j4 of $jobs short jobs" make.data 100 99
	ok "no short process is without its mappings" few "$log" 'no map' 2
	ok "none of its objects could not be opened" few "$log" "can't be opened" 2
}

# few LOG WORDS MOST: the samples of the lines with these words.
few()
{
	local sum

	sum=$(grep -aE "^hybrid: .*$2" "$1" | awk '{ n += $2 } END { print n + 0 }')
	echo "$sum: $2"
	[ "$sum" -le "$3" ]
}

tool_gcc()
{
	# Some passes of cc1 are deeper than 8 KiB, or have pages in their stack that
	# were never touched: no dump reaches behind those.
	mode=hybrid,32768 record gcc.data bash -c "$for_a_time" sh \
		gcc "${cflags[@]}" -c -o gcc.o "$truth/libc.c"
	complete "gcc" gcc.data 100 98
	need sqlite3 sqlite3 "sqlite3" || return
	mode=hybrid,16384 record sqlite.data bash -c "$for_a_time" sh sqlite3 :memory: "create table t(a, b);
		with recursive n(i) as (select 1 union all select i + 1 from n where i < 150000)
		insert into t select i * 7919 % 10007, hex(i) from n;
		create index x on t(b); select count(*), max(b) from t group by a % 100 limit 1;"
	complete "sqlite3" sqlite.data 100 99.5
}

test_tools()
{
	tool_bash
	tool_make
	tool_gcc
	need openssl openssl "openssl" || return
	# With AVX-512 IFMA, RSA has a frame of more than 8 KiB.
	mode=hybrid,16384 record openssl.data openssl speed -seconds 1 -bytes 1024 sha256 rsa2048
	complete "openssl speed" openssl.data 100 99.5
	# Without SHA extensions: the caller's rsp is below the stack, see real-programs.md.
	OPENSSL_ia32cap=:~0x20000000 record openssl-avx2.data \
		openssl speed -seconds 1 -bytes 16384 sha256 sha512
	complete "openssl speed by AVX2, of which a dump holds little" openssl-avx2.data 100 30
	record gzip.data bash -c "$for_a_time" sh gzip -9 -c "$perf"
	complete "gzip" gzip.data 100 99.5
}
