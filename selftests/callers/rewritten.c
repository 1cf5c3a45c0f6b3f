// SPDX-License-Identifier: GPL-2.0
/*
 * Code that is made at run time: two threads replace it at its place by code with another frame,
 * move it, free its page and use that again. They call it on stacks that still have the return
 * addresses of earlier calls. The log has the times at which code was written.
 */
#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include "callers.h"

#define NR_THREADS	2
#define NR_SHARED	16
#define NR_SLOTS	32
#define SLOT_SIZE	256
#define OWN_SIZE	((NR_SLOTS - NR_SHARED) * SLOT_SIZE)
#define SHARED_SIZE	(NR_THREADS * NR_SHARED * SLOT_SIZE)
#define MAX_DEPTH	3

struct task;
typedef void next_fn(struct task *);
typedef void made_fn(unsigned long rounds, struct task *task, next_fn *next);

/**
 * struct task - what a thread has
 * @state: of its random numbers
 * @number: of the thread
 * @depth: of the calls of made code
 * @calls: for each slot, so many until it has other code
 * @busy: it is being called
 * @has_code: it has been written
 */
struct task {
	uint32_t	state;
	unsigned int	number;
	unsigned int	depth;
	unsigned int	calls[NR_SLOTS];
	bool		busy[NR_SLOTS];
	bool		has_code[NR_SLOTS];
};

const char *prefix;
uint8_t *region;

#define PUT(to, ...) do {						\
	static const uint8_t bytes[] = { __VA_ARGS__ };			\
									\
	memcpy(to, bytes, sizeof(bytes));				\
	(to) += sizeof(bytes);						\
} while (0)

/* Up to 40 bytes, the same everywhere. */
__spin void put_filler(uint8_t **to, uint32_t *state)
{
	unsigned int nr = any(state) >> 5 & 3 ? any(state) % 8 : any(state) % 41;

	memset(*to, 0x90, nr);
	*to += nr;
}

/* One of four kinds of frames; all keep the stack aligned to 16 bytes where they call. */
__spin uint8_t *put_prologue(uint8_t *to, unsigned int kind, unsigned int more)
{
	unsigned int i;

	switch (kind) {
	case 0:
		PUT(to, 0x48, 0x83, 0xec);		/* sub $8 + 16 * more, %rsp */
		*to++ = 8 + 16 * more;
		break;
	case 1:
		for (i = 0; i < 1 + 2 * more; i++)
			PUT(to, 0x53);			/* push %rbx */
		break;
	case 2:
		PUT(to, 0x55, 0x48, 0x89, 0xe5);	/* push %rbp; mov %rsp, %rbp */
		PUT(to, 0x48, 0x83, 0xec);
		*to++ = 16 * more;
		break;
	default:
		PUT(to, 0x55);
		break;
	}
	return to;
}

__spin void put_epilogue(uint8_t *to, unsigned int kind, unsigned int more)
{
	unsigned int i;

	switch (kind) {
	case 0:
		PUT(to, 0x48, 0x83, 0xc4);
		*to++ = 8 + 16 * more;
		break;
	case 1:
		for (i = 0; i < 1 + 2 * more; i++)
			PUT(to, 0x5b);
		break;
	case 2:
		PUT(to, 0xc9);				/* leave */
		break;
	default:
		PUT(to, 0x5d);
		break;
	}
	PUT(to, 0xc3);
}

/* A function of made_fn. */
FN_A(void, make, (uint8_t *at, uint32_t *state), "@any")
{
	unsigned int kind = any(state) >> 7 & 3, more = any(state) % 7;
	uint8_t *to = put_prologue(at, kind, more);

	PUT(to, 0x48, 0x83, 0xef, 0x01, 0x75, 0xfa);	/* 1: sub $1, %rdi; jnz 1b */
	put_filler(&to, state);
	PUT(to, 0x48, 0x89, 0xf7, 0xff, 0xd2);		/* mov %rsi, %rdi; call *%rdx */
	put_filler(&to, state);
	PUT(to, 0xb8, 0x00, 0x40, 0x00, 0x00);		/* mov $0x4000, %eax */
	PUT(to, 0x83, 0xe8, 0x01, 0x75, 0xfb);		/* 1: sub $1, %eax; jnz 1b */
	put_filler(&to, state);
	put_epilogue(to, kind, more);
}

/* Some slots of both threads are next to each other; the others are in a page of the thread. */
__spin uint8_t *slot_at(const struct task *task, unsigned int i)
{
	if (i < NR_SHARED)
		return region + (i * NR_THREADS + task->number) * SLOT_SIZE;
	return region + SHARED_SIZE + task->number * OWN_SIZE + (i - NR_SHARED) * SLOT_SIZE;
}

__spin uint32_t code_number(const struct task *task, unsigned int i)
{
	return i * NR_THREADS + task->number;
}

__spin void set_calls(struct task *task, unsigned int i)
{
	static const uint32_t most[] = { 1000, 100, 1000, 4 };

	task->calls[i] = some(&task->state, most[i % 4]);
	task->has_code[i] = true;
}

__spin unsigned int idle_slot(struct task *task)
{
	unsigned int i;

	do {
		i = any(&task->state) % NR_SLOTS;
	} while (task->busy[i]);
	return i;
}

/* The code of a slot goes to another one. */
__spin unsigned int move(struct task *task, unsigned int from)
{
	unsigned int to = idle_slot(task);

	if (to == from)
		return to;
	call_event(CALL_CODE, code_number(task, to));
	memcpy(slot_at(task, to), slot_at(task, from), SLOT_SIZE);
	set_calls(task, to);
	call_event(CALL_CODE, code_number(task, from));
	memset(slot_at(task, from), 0xcc, SLOT_SIZE);
	task->has_code[from] = false;
	return to;
}

/* Memory without code is at the address of the thread's page, if none of that is being called. */
__spin void free_page(struct task *task)
{
	unsigned int i;

	for (i = NR_SHARED; i < NR_SLOTS; i++) {
		if (task->busy[i])
			return;
	}
	for (i = NR_SHARED; i < NR_SLOTS; i++) {
		call_event(CALL_CODE, code_number(task, i));
		task->has_code[i] = false;
		task->calls[i] = 0;
	}
	if (mmap(slot_at(task, NR_SHARED), OWN_SIZE, PROT_READ | PROT_WRITE | PROT_EXEC,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
		abort();
}

/* A slot with code. */
__spin unsigned int slot_of(struct task *task)
{
	unsigned int i = idle_slot(task), how;

	if (!task->calls[i]) {
		how = any(&task->state) >> 5 & 63;
		if (!how)
			free_page(task);
		if (how % 8 == 1 && task->has_code[i])
			i = move(task, i);
	}
	if (!task->calls[i] || !task->has_code[i]) {
		call_event(CALL_CODE, code_number(task, i));
		make(slot_at(task, i), &task->state);
		set_calls(task, i);
	}
	task->calls[i]--;
	return i;
}

/* Stands for made code in the log, and in the chain: check-callers gives it the name. */
FN_A(void, made, (void), "@logged")
{
}

/* Leaves return addresses on the stack below its caller. */
FN_B(void, soil, (unsigned int depth), "@any")
{
	char room[48];

	keep(room);
	if (depth)
		soil(depth - 1);
	keep(room);
}

__spin void call_made(struct task *task, next_fn *next)
{
	unsigned int slot = slot_of(task);
	made_fn *fn = (made_fn *)slot_at(task, slot);
	unsigned long rounds = some(&task->state, 40000);

	soil(12);
	task->busy[slot] = true;
	call_event(CALL_MADE, code_number(task, slot));
	ENTER(made);
	fn(rounds, task, next);
	LEAVE(made);
	task->busy[slot] = false;
}

FN_B(void, leaf, (struct task *task), "@logged")
{
	ENTER(leaf);
	burn(some(&task->state, 60000));
	LEAVE(leaf);
}

next_fn again;

#define CALLER(half, name)						\
FN_##half(void, name, (struct task *task), "@logged libc")		\
{									\
	ENTER(name);							\
	call_made(task, task->depth < MAX_DEPTH &&			\
		  any(&task->state) >> 8 & 1 ? again : leaf);		\
	LEAVE(name);							\
}

CALLER(A, parse)
CALLER(B, format)
CALLER(A, compare)

FN_B(void, again, (struct task *task), "@logged")
{
	ENTER(again);
	task->depth++;
	switch (any(&task->state) % 3) {
	case 0:
		parse(task);
		break;
	case 1:
		format(task);
		break;
	default:
		compare(task);
	}
	task->depth--;
	LEAVE(again);
}

/*
 * How long a thread calls its code at least, in ns. check-callers judges code that has not changed
 * for 50 ms.
 */
#define MIN_TIME	300000000

FN_B(void *, worker, (void *number), "@logged")
{
	struct task task = { .state = 11 + (uintptr_t)number, .number = (uintptr_t)number & 1 };
	unsigned int i;

	open_log(prefix);
	ENTER(worker);
	for (i = 0; i < 1000 || call_log[call_log_nr - 1].time - call_log[0].time < MIN_TIME; i++)
		again(&task);
	LEAVE(worker);
	return NULL;
}

FN_A(void, run_threads, (uintptr_t round), "@logged libc")
{
	ENTER(run_threads);
	if (!region)
		region = mmap(NULL, SHARED_SIZE + NR_THREADS * OWN_SIZE,
			      PROT_READ | PROT_WRITE | PROT_EXEC,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (region == MAP_FAILED)
		exit(77);
	RUN_THREADS(worker, round);
	LEAVE(run_threads);
}

uintptr_t round_nr;

#define WORK() do {			\
	prefix = argv[2];		\
	run_threads(round_nr++);	\
} while (0)

#include "main.h"
