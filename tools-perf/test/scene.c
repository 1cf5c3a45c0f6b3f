// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>
#include "abi.h"
#include "scene.h"
#include "tap.h"

struct hybrid_processes scene_ps;
struct hybrid_unwinder scene_unwinder;

static struct hybrid_thread *thread;

static void scene_init(void)
{
	struct hybrid_mapping jit = {
		.start = SCENE_JIT, .end = SCENE_JIT + 4096, .pid = SCENE_PID,
	};

	/* Whatever was there before. */
	memset(&scene_ps, 0xa5, sizeof(scene_ps));
	hybrid_processes_init(&scene_ps, elf_file_open);
	thread = hybrid_thread_get(&scene_ps, SCENE_PID, SCENE_PID);
	elf_file_map(&scene_ps, SCENE_PID, "frames.so", SCENE_BIAS);
	elf_file_map(&scene_ps, SCENE_PID, "nocfi.so", SCENE_NOCFI);
	elf_file_map(&scene_ps, SCENE_PID, "i386.so", SCENE_I386);
	if (!thread || hybrid_process_map(&scene_ps, &jit, NULL, true))
		exit(2);
}

void scene_exit(void)
{
	hybrid_processes_exit(&scene_ps);
	thread = NULL;
}

static void start(struct scene *s, const struct hybrid_abi *abi, u64 ip, u64 sp)
{
	if (!thread)
		scene_init();
	memset(&s->u, 0, sizeof(s->u));
	s->nr = 0;
	s->u.abi = abi;
	s->u.space = thread->process->space;
	s->u.frames = s->frames;
	s->u.max_frames = HYBRID_MAX_FRAMES;
	s->u.dump = (const u8 *)s->stack;
	s->u.dump_start = sp;
	scene_reg(s, abi->ip, ip);
	scene_reg(s, abi->sp, sp);
}

void scene_start(struct scene *s, u64 ip)
{
	start(s, &hybrid_abi_64, ip, SCENE_STACK);
}

void scene_start_32(struct scene *s, u64 ip)
{
	start(s, &hybrid_abi_32, ip, SCENE_STACK_32);
}

u64 scene_at(const char *label)
{
	return SCENE_BIAS + elf_file_symbol("frames.so", label);
}

u64 scene_at_32(const char *label)
{
	return SCENE_I386 + elf_file_symbol("i386.so", label);
}

void scene_reg(struct scene *s, unsigned int reg, u64 value)
{
	s->u.regs.value[reg] = value;
	s->u.regs.known |= 1U << reg;
}

u64 scene_top(const struct scene *s)
{
	return s->u.dump_start + s->nr * s->u.abi->word;
}

u64 scene_reg_top(struct scene *s, unsigned int reg)
{
	scene_reg(s, reg, scene_top(s));
	return scene_top(s);
}

u64 scene_push(struct scene *s, u64 word)
{
	u8 size = s->u.abi->word;

	memcpy((u8 *)s->stack + s->nr++ * size, &word, size);
	s->u.dump_size = s->nr * size;
	return scene_top(s) - size;
}

void scene_fill(struct scene *s, unsigned int nr, u64 word)
{
	while (nr--)
		scene_push(s, word);
}

void scene_push_bpframe(struct scene *s, u64 saved_bp, u64 ret)
{
	scene_push(s, saved_bp);
	scene_push(s, ret);
}

void scene_push_pushed(struct scene *s, u64 saved_rbx, u64 ret)
{
	scene_fill(s, 2, 0);
	scene_push(s, saved_rbx);
	scene_push(s, ret);
}

void scene_unwind(struct scene *s)
{
	hybrid_unwind(&scene_unwinder, &s->u);
}

void scene_compare(const struct scene *s, enum hybrid_stop stop, const u64 *ips,
		   unsigned int nr, const char *file, int line)
{
	unsigned int i;

	tap_same(s->u.stop, stop, file, line, "stop");
	tap_same(s->u.nr, nr, file, line, "number of frames");
	for (i = 0; i < nr && i < s->u.nr; i++)
		tap_same(s->u.frames[i].ip, ips[i], file, line, "ip");
}
