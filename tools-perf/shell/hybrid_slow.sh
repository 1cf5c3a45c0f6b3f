#!/bin/bash
# perf record --call-graph hybrid of programs whose files answer late, or never
# SPDX-License-Identifier: GPL-2.0
# shellcheck disable=SC2317,SC2154 # hybrid_check calls the tests, hybrid.sh sets variables

set -e

# shellcheck source=lib/hybrid.sh
. "$(dirname "$0")"/lib/hybrid.sh

# slowfs FILE MILLISECONDS OPTION... DIRECTORY: a file system with a libslow.so in it,
# which FILE is. For so long after the first perf has opened it no perf gets an answer; all others
# do. There may be another perf, which records all processes.
build_slowfs()
{
	# shellcheck disable=SC2046 # several options
	build slowfs $(pkg-config --cflags --libs fuse3 2> /dev/null || echo -lfuse3) <<- 'EOF'
	#define FUSE_USE_VERSION 31
	#include <errno.h>
	#include <fcntl.h>
	#include <fuse.h>
	#include <stdio.h>
	#include <stdlib.h>
	#include <string.h>
	#include <sys/stat.h>
	#include <time.h>
	#include <unistd.h>

	#define PATH "/libslow.so"

	static const char *file;
	static int ms;

	static int is_perf(void)
	{
		char path[64], comm[16] = "";
		FILE *in;

		snprintf(path, sizeof(path), "/proc/%d/comm", fuse_get_context()->pid);
		in = fopen(path, "r");
		if (in) {
			if (!fgets(comm, sizeof(comm), in))
				comm[0] = 0;
			fclose(in);
		}
		/* perf-files opens them for perf. */
		return !strncmp(comm, "perf", 4);
	}

	static int slow_getattr(const char *path, struct stat *st, struct fuse_file_info *fi)
	{
		if (strcmp(path, "/"))
			return strcmp(path, PATH) ? -ENOENT : stat(file, st) ? -errno : 0;
		memset(st, 0, sizeof(*st));
		st->st_mode = S_IFDIR | 0755;
		st->st_nlink = 2;
		return 0;
	}

	static void wait_for_answer(void)
	{
		static long long first;
		long long now, since = 0;
		struct timespec ts;

		clock_gettime(CLOCK_MONOTONIC, &ts);
		now = ts.tv_sec * 1000LL + ts.tv_nsec / 1000000;
		if (__atomic_compare_exchange_n(&first, &since, now, 0, __ATOMIC_RELAXED,
						__ATOMIC_RELAXED))
			since = now;
		if (now - since < ms)
			usleep((since + ms - now) * 1000);
	}

	static int slow_open(const char *path, struct fuse_file_info *fi)
	{
		if (is_perf())
			wait_for_answer();
		fi->fh = open(file, O_RDONLY);
		return (int)fi->fh < 0 ? -errno : 0;
	}

	static int slow_read(const char *path, char *buf, size_t size, off_t at,
			     struct fuse_file_info *fi)
	{
		ssize_t got = pread(fi->fh, buf, size, at);

		return got < 0 ? -errno : got;
	}

	static int slow_release(const char *path, struct fuse_file_info *fi)
	{
		return close(fi->fh);
	}

	static const struct fuse_operations ops = {
		.getattr = slow_getattr, .open = slow_open, .read = slow_read,
		.release = slow_release,
	};

	int main(int argc, char **argv)
	{
		file = argv[1];
		ms = atoi(argv[2]);
		argv[2] = argv[0];
		return fuse_main(argc - 2, argv + 2, &ops, 0);
	}
	EOF
}

build_slow()
{
	mkdir -p "$dir/mnt"
	clock_and <<- 'EOF' | build libslow.so -shared -fPIC || return 1
	volatile int slow_sink;

	FN int slow_leaf(void)
	{
		int i;

		for (i = 0; i < 1000; i++)
			slow_sink += i;
		return 1;
	}

	int slow(double seconds)
	{
		double last = 0;

		while (time_left(&seconds, &last))
			slow_sink += slow_leaf();
		return slow_sink;
	}
	EOF
	# Where the file system is not mounted, perf report finds the same file.
	cp "$dir/libslow.so" "$dir/mnt/" &&
		build slow "$dir/mnt/libslow.so" -Wl,-rpath,"$dir/mnt" <<- 'EOF'
	#include <stdlib.h>

	int slow(double seconds);

	int main(int argc, char **argv)
	{
		return slow(atof(argv[1])) == 7;
	}
	EOF
}

# slowly MILLISECONDS COMMAND...: with the file system mounted.
slowly()
{
	local pid ret=0 tries

	hybrid_start "$dir/slowfs" "$dir/libslow.so" "$1" -f -o auto_unmount "$dir/mnt"
	shift
	pid=$child
	for tries in {1..600}; do
		! mountpoint -q "$dir/mnt" || break
		kill -0 "$pid" 2> /dev/null || break
		sleep 0.1
	done
	mountpoint -q "$dir/mnt" || { echo "no FUSE after $tries tries"; return 77; }
	"$@" || ret=1
	umount -l "$dir/mnt"
	hybrid_stop "$pid"
	return "$ret"
}

# few_lost PERCENT: of all that is sampled not more is lost.
few_lost()
{
	[ $(($(total lost) * 100)) -le $((($(total lost) + $(samples_read)) * $1)) ]
}

# The file is there soon: samples wait for it, and are all complete. A ring has room
# for 120 ms of samples.
test_late()
{
	slowly 1200 record -v -m 256 -B -N -e cpu-clock:u -F 1000 \
		"$dir/slow" 2 || return
	grep hybrid "$log"
	chains "$data" --comm slow |
		true_chains '^(slow_leaf;|[^;]*(clock|unknown)[^;]*;)*slow;main;([^;]+;)*_start$' \
			'^slow' 400 && few_lost 4 && [ "$(total "not read")" -eq 0 ]
}

# It does not answer while perf records: that costs the frames of this file.
test_never()
{
	slowly 20000 record -v -m 32 -B -N -e cpu-clock:u -F 100 sh -c \
		"'$dir/slow' 6 & '$calls' 6; wait" || return
	grep hybrid "$log"
	few_lost 10 && [ "$(total "not read")" -ge 10 ] &&
		grep "not read in .*libslow.so: its file system did not answer" "$log" || return 1
	chains "$data" --comm calls | true_chains "$calls_true" "$calls_own" 60
}

hybrid_init
[ -c /dev/fuse ] || hybrid_skip_all "no /dev/fuse"
build_slowfs > "$log" 2>&1 || hybrid_skip_all "no FUSE library to build with"
build_slow
hybrid_check "a file that is late" test_late
hybrid_check "a file that does not answer" test_never
hybrid_done
