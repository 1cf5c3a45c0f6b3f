// SPDX-License-Identifier: GPL-2.0
/*
 * Lists of code and images that are none, or change while they are read.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include "jit-world.h"
#include "tap.h"

/* The first one is good, and stays; what comes behind it is none. */
static void test_lists(void)
{
	jit_begin("jit.so");
	/* A list that goes round, with and without what says so. */
	jit.entries[0].next = (u64)&jit.entries[0];
	check(jit_is_known());
	jit.entries[0].prev = (u64)&jit.entries[0];
	jit_pass();
	check(!jit_is_known());
	jit.entries[0].prev = 0;
	jit_say(&jit.entries[1], jit.image, jit.image_size);
	jit.entries[0].next = (u64)&jit.entries[1];
	jit.entries[1].prev = (u64)&jit.entries[0];
	jit.entries[1].next = (u64)&jit.entries[0];
	jit_pass();
	check(jit_is_known());
	/* Nothing there. */
	jit.entries[0].next = 8;
	jit_pass();
	check(jit_is_known());
	jit.entries[0].next = ~0ULL - 8;
	jit_pass();
	check(jit_is_known());
	jit.descriptor->first = ~0ULL;
	jit_pass();
	check(!jit_is_known());
	jit.descriptor->first = (u64)&jit.entries[0];
	jit.descriptor->version = 2;
	jit_pass();
	check(!jit_is_known());
	jit_end();
}

/* Sizes that are none; the image behind them is found. */
static void test_sizes(void)
{
	static const u64 sizes[] = {
		0, 1, 15, 16, 64, HYBRID_JIT_BYTES + 1, 1ULL << 40, ~0ULL, HYBRID_JIT_BYTES - 64,
	};
	unsigned int i;

	jit_begin("jit.so");
	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		jit_say(&jit.entries[0], jit.image, sizes[i]);
		jit_say(&jit.entries[1], jit.image, jit.image_size);
		jit.entries[0].next = (u64)&jit.entries[1];
		jit.entries[1].prev = (u64)&jit.entries[0];
		jit_pass();
		/* All that may be read of a process is spent on the last one. */
		same(jit_is_known(), i + 1 < ARRAY_SIZE(sizes));
	}
	jit_say(&jit.entries[0], (void *)(~0UL - 8), jit.image_size);
	jit.entries[0].next = (u64)&jit.entries[1];
	jit_pass();
	check(jit_is_known());
	jit_end();
}

/* More images than are looked at: the first ones count. */
static void test_many(void)
{
	unsigned int nr = 2 * HYBRID_JIT_IMAGES, good, i;
	struct jit_entry *many = calloc(nr, sizeof(*many));

	jit_begin("jit.so");
	for (good = HYBRID_JIT_IMAGES - 1; good <= HYBRID_JIT_IMAGES; good++) {
		for (i = 0; i < nr; i++) {
			/* ELF files of nothing but a header. */
			jit_say(&many[i], jit.image, i == good ? jit.image_size : 64);
			many[i].prev = i ? (u64)&many[i - 1] : 0;
			many[i].next = i + 1 < nr ? (u64)&many[i + 1] : 0;
		}
		jit.descriptor->first = (u64)many;
		jit_pass();
		same(jit_is_known(), good < HYBRID_JIT_IMAGES);
	}
	jit_end();
	free(many);
}

/* Images that lie, or are changed while they are read. */
static void break_image(void)
{
	unsigned int i, j;
	u8 *good;

	good = malloc(jit.image_size);
	check(good);
	memcpy(good, jit.image, jit.image_size);
	tap_seed(20);
	for (i = 0; i < 3000; i++) {
		for (j = 0; j < 1 + i % 16; j++)
			jit.image[tap_random() % jit.image_size] = tap_random();
		jit_pass();
		jit_unwind_leaf();
		check(jit.u.nr >= 1 && jit.u.nr <= jit.u.max_frames);
		memcpy(jit.image, good, jit.image_size);
	}
	jit_pass();
	check(jit_is_known());
	free(good);
}

static void test_broken(void)
{
	jit_begin("jit-debug.so");
	break_image();
	jit_end();
	jit_begin("jit-unlinked.so");
	jit_load();
	break_image();
	jit_end();
}

/* Of a page that is not there, or of a file, nothing is read, and none is made. */
static void test_not_there(void)
{
	int flags = MAP_PRIVATE | MAP_FIXED;
	int fd = memfd_create("list", MFD_CLOEXEC);
	unsigned char there;

	jit_begin("jit.so");
	same(pwrite(fd, jit.descriptor, PAGE, 0), PAGE);
	check(mmap(jit.descriptor, PAGE, PROT_READ, flags | MAP_POPULATE, fd, 0) == jit.descriptor);
	check(!jit_is_known());
	flags |= MAP_ANONYMOUS;
	check(mmap(jit.descriptor, PAGE, PROT_READ, flags, -1, 0) == jit.descriptor);
	jit_pass();
	check(!jit_is_known());
	check(!mincore(jit.descriptor, PAGE, &there) && !(there & 1));
	close(fd);
	jit_end();
}

/* What is mapped changes all the time: it is not looked at each time. */
static void test_mapped(void)
{
	struct hybrid_mapping other = { .start = CODE + PAGE, .end = CODE + 2 * PAGE };
	unsigned int i, known = 0;

	jit_begin("jit.so");
	other.pid = getpid();
	for (i = 0; i < 100; i++) {
		check(!hybrid_process_map(&jit.ps, &other, NULL, true));
		known += jit_is_known();
	}
	same(known, 8);
	jit_pass();
	check(jit_is_known());
	jit_end();
}

/* Who was asked last is known, as long as it is not one of too many. */
static void test_processes(void)
{
	pid_t pid, other;
	int i, nr;

	for (nr = 31; nr <= 32; nr++) {
		jit_begin("jit.so");
		pid = fork();
		if (!pid)
			_exit(pause());
		jit.u.pid = pid;
		check(jit_is_known());
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		/* Nobody has these numbers. */
		for (i = 0, other = 0x7ffffff0; i < nr; i++, other--) {
			jit.u.pid = other;
			check(!jit_is_known());
		}
		jit.u.pid = pid;
		same(jit_is_known(), nr < 32);
		jit_end();
	}
	jit_begin("jit.so");
	jit.u.pid = 0;
	check(!jit_is_known());
	jit.u.pid = -1;
	check(!jit_is_known());
	jit_end();
}

static const struct tap_test tests[] = {
	{ "jit: many processes", test_processes },
	{ "jit: lists that are none", test_lists },
	{ "jit: sizes that are none", test_sizes },
	{ "jit: too many images", test_many },
	{ "jit: images that are none", test_broken },
	{ "jit: pages that are not the process's own", test_not_there },
	{ "jit: mappings that change", test_mapped },
};

int main(void)
{
	return tap_run(tests, ARRAY_SIZE(tests));
}
