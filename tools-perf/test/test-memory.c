// SPDX-License-Identifier: GPL-2.0
/*
 * Code that no file backs, read from the process that has it: this one.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include "abi.h"
#include "elf-file.h"
#include "memory.h"
#include "process.h"
#include "tap.h"
#include "walk.h"

#define PAGE	4096

/* sub $8,%rsp; call *%rcx; add $8,%rsp; ret: Python's, for each function. */
static const u8 trampoline[] = { 0x48, 0x83, 0xec, 0x08, 0xff, 0xd1, 0x48, 0x83,
				 0xc4, 0x08, 0xc3 };
#define BEHIND_CALL	6

/* The same with 16 bytes more. */
static const u8 larger[] = { 0x48, 0x83, 0xec, 0x18, 0xff, 0xd1, 0x48, 0x83,
			     0xc4, 0x18, 0xc3 };

static struct hybrid_memory *memory;
static struct hybrid_space *space;
static pid_t sampled;
static u8 *code;

static void map(u64 start, u64 end, pid_t pid)
{
	struct hybrid_mapping mapping = { .start = start, .end = end, .pid = pid };

	check(!hybrid_space_map(space, &mapping, true));
}

/* Two pages, of which the second is there, but not mapped as code. */
static void begin(pid_t pid)
{
	memory = hybrid_memory_new();
	space = hybrid_space_new();
	code = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	check(memory && space && code != MAP_FAILED);
	memcpy(code, trampoline, sizeof(trampoline));
	map((u64)code, (u64)code + PAGE, pid);
	sampled = pid;
}

static void end(void)
{
	hybrid_memory_delete(memory);
	hybrid_space_put(space);
	munmap(code, 2 * PAGE);
}

/* The CFA's offset from sp at that byte of the code; 0 where there is no rule. */
static s64 cfa_at(unsigned int offset)
{
	struct hybrid_rule rule = {};

	if (!hybrid_memory_rule(memory, space, sampled, &hybrid_abi_64, (u64)code + offset, &rule,
				NULL))
		return 0;
	same(rule.kind, HYBRID_RULE_CFA);
	same(rule.base, HYBRID_BASE_SP);
	same(rule.ra_off, -8);
	same(rule.bp, HYBRID_BP_SAME);
	return rule.cfa_off;
}

static bool is_return(unsigned int offset)
{
	return hybrid_memory_is_return(memory, space, sampled, &hybrid_abi_64,
				       (u64)code + offset);
}

static void test_rule(void)
{
	begin(getpid());
	same(cfa_at(BEHIND_CALL), 16);
	same(cfa_at(BEHIND_CALL + 4), 8);
	check(is_return(BEHIND_CALL));
	check(!is_return(BEHIND_CALL + 4));
	end();
}

/* mov $15,%rax; syscall: what a program that brings its own returns to. */
static void test_sigreturn(void)
{
	static const u8 restore[] = { 0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f, 0x05 };
	struct hybrid_rule rule = {};

	begin(getpid());
	memcpy(code + 64, restore, sizeof(restore));
	check(hybrid_memory_rule(memory, space, sampled, &hybrid_abi_64, (u64)code + 64, &rule,
				 NULL));
	same(rule.kind, HYBRID_RULE_SIGRETURN);
	check(rule.signal);
	end();
}

static void test_rewritten(void)
{
	begin(getpid());
	same(cfa_at(BEHIND_CALL), 16);
	memcpy(code, larger, sizeof(larger));
	/* In one pass over the rings it is read once. */
	same(cfa_at(BEHIND_CALL), 16);
	hybrid_memory_forget(memory);
	same(cfa_at(BEHIND_CALL), 32);
	end();
}

/* Of a process that is gone, what was read stays; nothing comes to it. */
static void test_gone(void)
{
	pid_t pid;

	begin(getpid());
	pid = fork();
	if (!pid)
		pause();
	hybrid_space_clear(space);
	map((u64)code, (u64)code + PAGE, pid);
	sampled = pid;
	same(cfa_at(BEHIND_CALL), 16);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	hybrid_memory_forget(memory);
	same(cfa_at(BEHIND_CALL), 16);
	map((u64)code, (u64)code + PAGE, pid);
	same(cfa_at(BEHIND_CALL), 0);
	/* Nothing tells that it is none. */
	check(is_return(BEHIND_CALL + 4));
	end();
}

/*
 * A page of a file, of which nothing was written here, may be one that never
 * comes; one that was never touched is not there, and stays so.
 */
static void test_not_its_own(void)
{
	int fd = memfd_create("code", MFD_CLOEXEC), flags = MAP_PRIVATE | MAP_FIXED;
	unsigned char there;

	begin(getpid());
	same(pwrite(fd, code, PAGE, 0), PAGE);
	check(mmap(code, PAGE, PROT_READ, flags | MAP_POPULATE, fd, 0) == code);
	same(cfa_at(BEHIND_CALL), 0);
	check(mmap(code, PAGE, PROT_READ, flags | MAP_ANONYMOUS, -1, 0) == code);
	hybrid_memory_forget(memory);
	same(cfa_at(BEHIND_CALL), 0);
	check(!mincore(code, PAGE, &there) && !(there & 1));
	close(fd);
	end();
}

static void test_nothing(void)
{
	begin(getpid());
	/* Not mapped as code: neither there, nor from the code before it. */
	memcpy(code + PAGE, trampoline, sizeof(trampoline));
	same(cfa_at(PAGE + BEHIND_CALL), 0);
	memset(code + PAGE - 16, 0x90, 16);
	same(cfa_at(PAGE - 16), 0);
	hybrid_memory_delete(memory);
	memory = NULL;
	same(cfa_at(BEHIND_CALL), 0);
	check(is_return(BEHIND_CALL + 4));
	hybrid_memory_forget(memory);
	end();
}

/* The same address in another space is other code. */
static void test_spaces(void)
{
	struct hybrid_space *first;
	pid_t pid;

	begin(getpid());
	same(cfa_at(BEHIND_CALL), 16);
	first = space;
	pid = fork();
	if (!pid)
		pause();
	memcpy(code, larger, sizeof(larger));
	space = hybrid_space_new();
	map((u64)code, (u64)code + PAGE, getpid());
	same(cfa_at(BEHIND_CALL), 32);
	hybrid_space_clear(first);
	hybrid_space_put(space);
	space = first;
	map((u64)code, (u64)code + PAGE, pid);
	sampled = pid;
	same(cfa_at(BEHIND_CALL), 16);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	end();
}

/*
 * What fork made has the mappings of its parent, which one of them may write to, or
 * be gone.
 */
static void test_forked(void)
{
	pid_t pids[2];
	int i;

	begin(getpid());
	same(cfa_at(BEHIND_CALL), 16);
	for (i = 0; i < 2; i++) {
		pids[i] = fork();
		if (!pids[i])
			pause();
		memcpy(code, larger, sizeof(larger));
	}
	/* The first has what was there before; the parent's is known of this pass. */
	sampled = pids[0];
	same(cfa_at(BEHIND_CALL), 16);
	sampled = pids[1];
	same(cfa_at(BEHIND_CALL), 32);
	check(is_return(BEHIND_CALL));
	check(!is_return(BEHIND_CALL + 4));
	/* The parent's is gone. */
	munmap(code, PAGE);
	hybrid_memory_forget(memory);
	same(cfa_at(BEHIND_CALL), 32);
	sampled = pids[0];
	same(cfa_at(BEHIND_CALL), 16);
	for (i = 0; i < 2; i++) {
		kill(pids[i], SIGKILL);
		waitpid(pids[i], NULL, 0);
	}
	end();
}

/* The sampled one is gone: what it began with is with its parent. */
static void test_forked_gone(void)
{
	begin(getpid());
	sampled = fork();
	if (!sampled)
		_exit(0);
	/* A process that was not waited for, and then none. */
	waitid(P_PID, sampled, NULL, WEXITED | WNOWAIT);
	same(cfa_at(BEHIND_CALL), 16);
	hybrid_memory_delete(memory);
	memory = hybrid_memory_new();
	waitpid(sampled, NULL, 0);
	same(cfa_at(BEHIND_CALL), 16);
	end();
}

/* It runs, and has nothing there: what its parent has is not what it runs. */
static void test_forked_unmapped(void)
{
	int fds[2];
	char byte;

	begin(getpid());
	check(!pipe(fds));
	sampled = fork();
	if (!sampled) {
		munmap(code, PAGE);
		if (write(fds[1], "", 1) == 1)
			pause();
		_exit(1);
	}
	same(read(fds[0], &byte, 1), 1);
	same(cfa_at(BEHIND_CALL), 0);
	kill(sampled, SIGKILL);
	waitpid(sampled, NULL, 0);
	close(fds[0]);
	close(fds[1]);
	end();
}

/* Who asked a process is likely to do so again: for some passes over the rings. */
static void test_asked(void)
{
	unsigned int i;
	pid_t pid;

	check(!hybrid_memory_is_asked(NULL));
	begin(getpid());
	check(!hybrid_memory_is_asked(memory));
	same(cfa_at(BEHIND_CALL), 16);
	for (i = 0; i < 4; i++) {
		check(hybrid_memory_is_asked(memory));
		hybrid_memory_forget(memory);
	}
	check(!hybrid_memory_is_asked(memory));
	same(cfa_at(BEHIND_CALL), 16);
	check(hybrid_memory_is_asked(memory));
	end();

	/* One that is gone could not have been asked any sooner. */
	pid = fork();
	if (!pid)
		_exit(0);
	waitpid(pid, NULL, 0);
	begin(pid);
	same(cfa_at(BEHIND_CALL), 0);
	check(!hybrid_memory_is_asked(memory));
	end();
}

/* Words, and more, of pages that are the process's own and there. */
static void test_reads(void)
{
	u64 at, value;
	unsigned int size;
	u8 bytes[2 * PAGE];
	pid_t pid;

	begin(getpid());
	memset(code, 0x5a, 2 * PAGE);
	at = (u64)code;
	for (size = 1; size <= 8; size++) {
		value = ~0ULL;
		same(hybrid_memory_read(memory, space, sampled, at + PAGE - size, size, &value), 0);
		same(value, 0x5a5a5a5a5a5a5a5aULL >> (64 - 8 * size));
		if (size > 1)
			same(hybrid_memory_read(memory, space, sampled, at + PAGE - size + 1, size,
						&value), (u64)-1);
	}
	same(hybrid_memory_copy(memory, space, sampled, at + 1, bytes, 2 * PAGE - 1), 0);
	check(bytes[0] == 0x5a && bytes[2 * PAGE - 2] == 0x5a);
	same(hybrid_memory_copy(memory, space, sampled, ~0ULL - 4, bytes, 8), (u64)-1);
	same(hybrid_memory_copy(memory, space, sampled, at, bytes, 0), 0);
	/* The second page is not there: no byte of it is read, and all of the first one can be. */
	madvise(code + PAGE, PAGE, MADV_DONTNEED);
	same(hybrid_memory_copy(memory, space, sampled, at, bytes, PAGE), 0);
	same(hybrid_memory_copy(memory, space, sampled, at, bytes, PAGE + 1), (u64)-1);
	same(hybrid_memory_read(memory, space, sampled, at + PAGE, 8, &value), (u64)-1);
	/* Nobody to be asked. */
	for (pid = -1; pid <= 0; pid++) {
		same(hybrid_memory_read(memory, space, pid, at, 8, &value), (u64)-1);
		same(hybrid_memory_copy(memory, space, pid, at, bytes, 8), (u64)-1);
	}
	same(hybrid_memory_read(NULL, space, sampled, at, 8, &value), (u64)-1);
	same(hybrid_memory_copy(NULL, space, sampled, at, bytes, 8), (u64)-1);
	end();
}

/* Is nothing of the process's own at an address? Not known is not absent. */
static void test_absent(void)
{
	int fd = memfd_create("file", MFD_CLOEXEC), flags = MAP_PRIVATE | MAP_FIXED;
	pid_t pid = fork();

	if (!pid)
		_exit(0);
	waitpid(pid, NULL, 0);
	begin(getpid());
	check(!hybrid_memory_is_absent(memory, space, sampled, (u64)code));
	check(!hybrid_memory_is_absent(memory, space, sampled, (u64)code + PAGE - 1));
	check(hybrid_memory_is_absent(memory, space, sampled, (u64)code + PAGE));
	code[PAGE] = 1;
	check(!hybrid_memory_is_absent(memory, space, sampled, (u64)code + PAGE));
	check(!hybrid_memory_is_absent(NULL, space, sampled, (u64)code + PAGE));
	check(hybrid_memory_is_absent(memory, space, sampled, 0x1000));
	check(!hybrid_memory_is_absent(memory, space, 0, 0x1000));
	check(!hybrid_memory_is_absent(memory, space, -1, 0x1000));
	check(!hybrid_memory_is_absent(memory, space, pid, 0x1000));
	check(!ftruncate(fd, PAGE));
	check(mmap(code, PAGE, PROT_READ, flags | MAP_POPULATE, fd, 0) == code);
	check(hybrid_memory_is_absent(memory, space, sampled, (u64)code));
	close(fd);
	end();
}

/* Code without a file jumps to a file's, whose code is read from the file. */
static void test_jump_to_file(void)
{
	struct hybrid_processes ps;
	struct hybrid_space *before;
	u64 bias;
	s32 far;

	begin(getpid());
	hybrid_processes_init(&ps, elf_file_open);
	bias = (u64)code + 0x100000;
	elf_file_map(&ps, getpid(), "frames.so", bias);
	before = space;
	space = hybrid_process_find(&ps, getpid())->space;
	map((u64)code, (u64)code + PAGE, getpid());
	/* jmp pushed_two: pop %rbx; ret */
	memset(code, 0x90, PAGE);
	far = bias + elf_file_symbol("frames.so", "pushed_two") - (u64)code - 69;
	code[64] = 0xe9;
	memcpy(code + 65, &far, sizeof(far));
	same(cfa_at(64), 16);
	hybrid_memory_forget(memory);
	/* Where nothing is mapped. */
	far += 0x1000000;
	memcpy(code + 65, &far, sizeof(far));
	same(cfa_at(64), 0);
	space = before;
	hybrid_processes_exit(&ps);
	end();
}

/* Without a reader nothing is known; and what is known from before does not count as asked. */
static void test_no_reader(void)
{
	u64 next = 0, begins;
	u8 bytes[8];

	begin(getpid());
	same(hybrid_memory_after(NULL, space, sampled, &hybrid_abi_64, 0x1234, &next),
	     HYBRID_EFFECT_SAME);
	same(next, 0x1234);
	check(!hybrid_memory_around(NULL, space, sampled, &hybrid_abi_64, (u64)code, &begins));
	same(hybrid_memory_code(NULL, space, sampled, &hybrid_abi_64, (u64)code, bytes, 8),
	     (u64)-1);
	same(hybrid_memory_code(memory, space, sampled, &hybrid_abi_64, (u64)code, bytes, 8), 0);
	check(!memcmp(bytes, trampoline, 8));
	/* All of it must be in the mapping. */
	same(hybrid_memory_code(memory, space, sampled, &hybrid_abi_64, (u64)code + PAGE - 8, bytes,
				8), 0);
	same(hybrid_memory_code(memory, space, sampled, &hybrid_abi_64, (u64)code + PAGE - 7, bytes,
				8), (u64)-1);
	same(hybrid_memory_after(memory, space, sampled, &hybrid_abi_64, (u64)code, &next),
	     HYBRID_EFFECT_NEXT);
	same(next, (u64)code + 4);
	hybrid_memory_delete(memory);
	memory = hybrid_memory_new();
	hybrid_memory_look_again(memory, true);
	same(cfa_at(BEHIND_CALL), 16);
	check(!hybrid_memory_is_asked(memory));
	hybrid_memory_look_again(memory, false);
	hybrid_memory_forget(memory);
	same(cfa_at(BEHIND_CALL), 16);
	check(hybrid_memory_is_asked(memory));
	end();
}

/* Below the stack's copy a leaf has 128 bytes, which are read from the process. */
static void test_red_zone(void)
{
	static const struct {
		s64		from;
		unsigned int	size;
		int		err;
		bool		below;
	} cases[] = {
		{ 0, 8, 0, false }, { 24, 8, 0, false }, { 25, 8, -1, false },
		{ 32, 8, -1, false }, { -8, 8, 0, true }, { -4, 4, 0, true }, { -4, 8, -1, false },
		{ -7, 8, -1, false }, { -128, 8, 0, true }, { -129, 8, -1, false },
		{ -136, 8, -1, false },
	};
	struct hybrid_unwinder *unwinder = calloc(1, sizeof(*unwinder));
	u64 dump[4] = { 1, 2, 3, 4 }, value, want;
	struct hybrid_unwind u = {};
	struct hybrid_walk w = { .unwinder = unwinder, .u = &u };
	const u8 *from;
	unsigned int i;

	begin(getpid());
	for (i = 0; i < PAGE; i++)
		code[i] = i * 7 + i / 256;
	unwinder->memory = memory;
	u = (struct hybrid_unwind) {
		.abi = &hybrid_abi_64, .space = space, .pid = sampled, .dump = (u8 *)dump,
		.dump_size = sizeof(dump), .dump_start = (u64)code + 1024,
	};
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		w.below = false;
		want = 0;
		from = code + 1024 + cases[i].from;
		if (!cases[i].below && !cases[i].err)
			from = (u8 *)dump + cases[i].from;
		memcpy(&want, from, cases[i].size);
		same((u64)hybrid_walk_read(&w, u.dump_start + cases[i].from, cases[i].size, &value),
		     (u64)cases[i].err);
		if (!cases[i].err)
			same(value, want);
		same(w.below, cases[i].below);
	}
	/* The other ABI has no such bytes. */
	u.abi = &hybrid_abi_32;
	same((u64)hybrid_walk_read(&w, u.dump_start - 8, 8, &value), -1ULL);
	/* What is missing is above the copy, or sp is not in it; else it is no frame's. */
	u.sp = u.dump_start;
	same(hybrid_walk_unreadable(&u, u.dump_start), HYBRID_STOP_DUMP_END);
	same(u.missing, u.dump_start);
	same(hybrid_walk_unreadable(&u, u.dump_start - 1), HYBRID_STOP_BAD_FRAME);
	same(u.missing, u.dump_start - 1);
	u.sp--;
	same(hybrid_walk_unreadable(&u, u.dump_start - 1), HYBRID_STOP_DUMP_END);
	free(unwinder);
	end();
}

static const struct tap_test tests[] = {
	{ "memory: words and more", test_reads },
	{ "memory: below the copy of a stack", test_red_zone },
	{ "memory: what is absent", test_absent },
	{ "memory: a jump to a file's code", test_jump_to_file },
	{ "memory: no reader, or one that looks again", test_no_reader },
	{ "memory: the rule is what the code says", test_rule },
	{ "memory: a signal trampoline", test_sigreturn },
	{ "memory: code that is written anew", test_rewritten },
	{ "memory: a process that is gone", test_gone },
	{ "memory: pages that are not the process's own", test_not_its_own },
	{ "memory: no code there, nobody to read it", test_nothing },
	{ "memory: two processes, one address", test_spaces },
	{ "memory: parent and child share a space, and not its memory", test_forked },
	{ "memory: a child that is gone", test_forked_gone },
	{ "memory: a child that has nothing there", test_forked_unmapped },
	{ "memory: a process was asked lately", test_asked },
};

int main(void)
{
	return tap_run(tests, ARRAY_SIZE(tests));
}
