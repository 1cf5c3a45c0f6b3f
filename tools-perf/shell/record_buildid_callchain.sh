#!/bin/bash
# build-ids of what is only in callchains
# SPDX-License-Identifier: GPL-2.0

set -e

dir=$(mktemp -d /tmp/__perf_test.buildid.XXXXX)

cleanup()
{
	rm -rf "$dir"
	trap - EXIT TERM INT
}

trap 'cleanup; exit 1' EXIT TERM INT

if ! command -v cc > /dev/null; then
	echo "[Skip] no compiler"
	cleanup
	exit 2
fi

# The program spends its time in its own function, which the library has called.
cat > "$dir/lib.c" <<- 'EOF'
int call(int (*func)(int), int arg)
{
	return func(arg) + 1;
}
EOF
cat > "$dir/prog.c" <<- 'EOF'
#include <time.h>

int call(int (*func)(int), int arg);

volatile int sum;

static int work(int seconds)
{
	clock_t until = clock() + seconds * CLOCKS_PER_SEC;
	int i;

	while (clock() < until)
		for (i = 0; i < 1000000; i++)
			sum += i;
	return sum;
}

int main(void)
{
	return call(work, 1) == -1;
}
EOF
build()
{
	cc -O1 -fno-omit-frame-pointer -fno-optimize-sibling-calls "-Wl,--build-id" -o "$@"
}
build "$dir/libcall.so" -shared -fPIC "$dir/lib.c"
build "$dir/prog" "$dir/prog.c" -L"$dir" -lcall "-Wl,-rpath,$dir"

# test_mode MODE: the library's build-id is in the table.
test_mode()
{
	if ! perf record -e cpu-clock:u --no-buildid-mmap --call-graph "$1" -vv \
			-o "$dir/data" "$dir/prog" > "$dir/log" 2>&1; then
		echo "$1 [Skip: perf record failed]"
		return
	fi
	perf buildid-list -i "$dir/data" > "$dir/list"
	if ! grep -q libcall.so "$dir/list"; then
		echo "$1 [Failed: no build-id of the library]"
		exit 1
	fi
	# To unwind all samples takes longer than to record them.
	if grep -q '^unwind: ' "$dir/log"; then
		echo "$1 [Failed: perf record unwinds samples]"
		exit 1
	fi
	echo "$1 [Success]"
}

test_mode fp
test_mode dwarf

cleanup
exit 0
