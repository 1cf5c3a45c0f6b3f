// SPDX-License-Identifier: GPL-2.0
/*
 * A process, this one, that says something of code of its own.
 */
#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "abi.h"
#include "elf-file.h"
#include "jit-world.h"
#include "tap.h"

struct jit_world jit;

/* What is not linked has no addresses yet. */
u64 jit_at(const char *label)
{
	u64 addr = elf_file_symbol(jit.image_name, label);

	return addr < CODE ? CODE + addr : addr;
}

/* All of the file, in memory of its own. */
static void read_file(const char *name)
{
	int fd = open(elf_file_path(name), O_RDONLY);
	struct stat st = {};

	check(fd >= 0 && !fstat(fd, &st));
	jit.image_name = name;
	jit.image_size = st.st_size;
	jit.image = malloc(jit.image_size);
	check(jit.image && read(fd, jit.image, jit.image_size) == (ssize_t)jit.image_size);
	close(fd);
}

void jit_say(struct jit_entry *entry, const void *addr, u64 size)
{
	*entry = (struct jit_entry) { .addr = (u64)addr, .size = size };
}

void jit_begin(const char *name)
{
	struct hybrid_mapping code = { .start = CODE, .end = CODE + PAGE, .pid = getpid() };
	int flags = MAP_PRIVATE | MAP_ANONYMOUS;
	u64 in_list;

	hybrid_processes_init(&jit.ps, elf_file_open);
	memset(&jit.unwinder, 0, sizeof(jit.unwinder));
	jit.unwinder.memory = hybrid_memory_new();
	jit.unwinder.jit = hybrid_jit_new(&jit.ps.objects, jit.unwinder.memory);
	jit.descriptor = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, flags, -1, 0);
	read_file(name);
	check(jit.unwinder.memory && jit.unwinder.jit && jit.descriptor != MAP_FAILED);
	check(mmap((void *)CODE, PAGE, PROT_READ | PROT_WRITE, flags | MAP_FIXED_NOREPLACE, -1,
		   0) == (void *)CODE);
	/* One page, code and all. */
	memcpy((void *)CODE, jit.image, jit.image_size < PAGE ? jit.image_size : PAGE);
	in_list = elf_file_symbol("jit-list.so", "__jit_debug_descriptor");
	elf_file_map(&jit.ps, getpid(), "jit-list.so", (u64)jit.descriptor - in_list);
	check(!hybrid_process_map(&jit.ps, &code, NULL, true));
	jit_say(&jit.entries[0], jit.image, jit.image_size);
	*jit.descriptor = (struct jit_descriptor) { .version = 1, .first = (u64)&jit.entries[0] };
	memset(&jit.u, 0, sizeof(jit.u));
	jit.u.abi = &hybrid_abi_64;
	jit.u.space = hybrid_thread_get(&jit.ps, getpid(), getpid())->process->space;
	jit.u.pid = getpid();
	jit.u.frames = jit.frames;
	jit.u.max_frames = ARRAY_SIZE(jit.frames);
	jit.u.dump = (const u8 *)jit.stack;
	jit.u.dump_start = STACK;
	jit.u.dump_size = sizeof(jit.stack);
	jit.u.regs.known = 1U << HYBRID_X86_64_IP | 1U << HYBRID_X86_64_SP;
	jit.u.regs.value[HYBRID_X86_64_SP] = STACK;
	memset(jit.stack, 0x11, sizeof(jit.stack));
}

void jit_end(void)
{
	hybrid_jit_delete(jit.unwinder.jit);
	hybrid_memory_delete(jit.unwinder.memory);
	hybrid_processes_exit(&jit.ps);
	same(jit.ps.objects.nr, 0);
	same(jit.ps.objects.nr_rows, 0);
	munmap(jit.descriptor, PAGE);
	munmap((void *)CODE, PAGE);
	free(jit.image);
}

void jit_pass(void)
{
	hybrid_memory_forget(jit.unwinder.memory);
	hybrid_jit_forget(jit.unwinder.jit);
}

enum hybrid_stop jit_unwind_leaf(void)
{
	jit.stack[3] = jit_at("middle_ret");
	jit.stack[3 + 6] = jit_at("root_ret");
	jit.u.regs.value[HYBRID_X86_64_IP] = jit_at("leaf_at");
	hybrid_unwind(&jit.unwinder, &jit.u);
	return jit.u.stop;
}

bool jit_is_known(void)
{
	return jit_unwind_leaf() == HYBRID_STOP_OUTERMOST && jit.u.nr == 3;
}

Elf64_Shdr *jit_section(const char *name)
{
	Elf64_Ehdr *ehdr = (Elf64_Ehdr *)jit.image;
	Elf64_Shdr *shdrs = (Elf64_Shdr *)(jit.image + ehdr->e_shoff);
	const char *names = (const char *)jit.image + shdrs[ehdr->e_shstrndx].sh_offset;
	unsigned int i;

	for (i = 1; i < ehdr->e_shnum && strcmp(names + shdrs[i].sh_name, name); i++)
		;
	check(i < ehdr->e_shnum);
	return &shdrs[i];
}

u8 *jit_load(void)
{
	Elf64_Shdr *text = jit_section(".text"), *eh = jit_section(".eh_frame");
	Elf64_Shdr *shdr = jit_section(".rela.eh_frame");
	Elf64_Rela *rela = (Elf64_Rela *)(jit.image + shdr->sh_offset);
	/* 32 bits say how far it is from the code. */
	u8 *frames_at = (u8 *)CODE + PAGE / 2;
	unsigned int i;
	u32 value;

	check(text->sh_size + eh->sh_size < PAGE / 2);
	memcpy((void *)CODE, jit.image + text->sh_offset, text->sh_size);
	memcpy(frames_at, jit.image + eh->sh_offset, eh->sh_size);
	for (i = 0; i < shdr->sh_size / sizeof(*rela); i++) {
		same(ELF64_R_TYPE(rela[i].r_info), R_X86_64_PC32);
		value = CODE + rela[i].r_addend - (u64)frames_at - rela[i].r_offset;
		memcpy(frames_at + rela[i].r_offset, &value, sizeof(value));
	}
	text->sh_addr = CODE;
	eh->sh_addr = (u64)frames_at;
	/* As LLVM calls it. */
	eh->sh_type = 0x70000001;
	return frames_at;
}
