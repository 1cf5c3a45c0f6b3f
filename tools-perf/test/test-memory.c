// SPDX-License-Identifier: GPL-2.0
/*
 * Code that no file backs, read from the process that has it: this one.
 */
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include "abi.h"
#include "memory.h"
#include "tap.h"

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

	if (!hybrid_memory_rule(memory, space, sampled, &hybrid_abi_64, (u64)code + offset, &rule))
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
	check(hybrid_memory_rule(memory, space, sampled, &hybrid_abi_64, (u64)code + 64, &rule));
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

static const struct tap_test tests[] = {
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
