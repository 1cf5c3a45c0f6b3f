// SPDX-License-Identifier: GPL-2.0
/*
 * Code that a process says something of, read from the process: this one.
 */
#include <elf.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "elf-file.h"
#include "tap.h"
#include "unwind.h"

#define PAGE	4096UL
#define CODE	0x10000000UL
#define STACK	0x7ffc00010000ULL

struct entry {
	u64	next;
	u64	prev;
	u64	addr;
	u64	size;
};

struct descriptor {
	u32	version;
	u32	action;
	u64	relevant;
	u64	first;
};

static struct hybrid_processes ps;
static struct hybrid_unwinder unwinder;
static struct hybrid_frame frames[16];
static struct hybrid_unwind u;
static struct descriptor *descriptor;
static struct entry entries[4];
static u64 stack[64];
static u8 *image;
static size_t image_size;
static const char *image_name;

/* What is not linked has no addresses yet. */
static u64 at(const char *label)
{
	u64 addr = elf_file_symbol(image_name, label);

	return addr < CODE ? CODE + addr : addr;
}

/* All of the file, in memory of its own. */
static void read_file(const char *name)
{
	int fd = open(elf_file_path(name), O_RDONLY);
	struct stat st = {};

	check(fd >= 0 && !fstat(fd, &st));
	image_name = name;
	image_size = st.st_size;
	image = malloc(image_size);
	check(image && read(fd, image, image_size) == (ssize_t)image_size);
	close(fd);
}

static void say(struct entry *entry, const void *addr, u64 size)
{
	*entry = (struct entry) { .addr = (u64)addr, .size = size };
}

/* The list has one image, the code of which is where it says. */
static void begin(const char *name, pid_t pid)
{
	struct hybrid_mapping code = { .start = CODE, .end = CODE + PAGE, .pid = getpid() };
	int flags = MAP_PRIVATE | MAP_ANONYMOUS;

	hybrid_processes_init(&ps, elf_file_open);
	memset(&unwinder, 0, sizeof(unwinder));
	unwinder.memory = hybrid_memory_new();
	unwinder.jit = hybrid_jit_new(&ps.objects, unwinder.memory);
	descriptor = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, flags, -1, 0);
	read_file(name);
	check(unwinder.memory && unwinder.jit && descriptor != MAP_FAILED);
	check(mmap((void *)CODE, PAGE, PROT_READ | PROT_WRITE, flags | MAP_FIXED_NOREPLACE, -1,
		   0) == (void *)CODE);
	/* One page, code and all. */
	memcpy((void *)CODE, image, image_size < PAGE ? image_size : PAGE);
	elf_file_map(&ps, getpid(), "jit-list.so",
		     (u64)descriptor - elf_file_symbol("jit-list.so", "__jit_debug_descriptor"));
	check(!hybrid_process_map(&ps, &code, NULL, true));
	say(&entries[0], image, image_size);
	*descriptor = (struct descriptor) { .version = 1, .first = (u64)&entries[0] };
	memset(&u, 0, sizeof(u));
	u.abi = &hybrid_abi_64;
	u.space = hybrid_thread_get(&ps, getpid(), getpid())->process->space;
	u.pid = pid;
	u.frames = frames;
	u.max_frames = ARRAY_SIZE(frames);
	u.dump = (const u8 *)stack;
	u.dump_start = STACK;
	u.dump_size = sizeof(stack);
	u.regs.known = 1U << HYBRID_X86_64_IP | 1U << HYBRID_X86_64_SP;
	u.regs.value[HYBRID_X86_64_SP] = STACK;
	memset(stack, 0x11, sizeof(stack));
}

static void end(void)
{
	hybrid_jit_delete(unwinder.jit);
	hybrid_memory_delete(unwinder.memory);
	hybrid_processes_exit(&ps);
	same(ps.objects.nr, 0);
	same(ps.objects.nr_rows, 0);
	munmap(descriptor, PAGE);
	munmap((void *)CODE, PAGE);
	free(image);
}

static void pass(void)
{
	hybrid_memory_forget(unwinder.memory);
	hybrid_jit_forget(unwinder.jit);
}

/* In leaf(), which middle() has called, which root() has called. */
static enum hybrid_stop unwind_leaf(void)
{
	stack[3] = at("middle_ret");
	stack[3 + 6] = at("root_ret");
	u.regs.value[HYBRID_X86_64_IP] = at("leaf_at");
	hybrid_unwind(&unwinder, &u);
	return u.stop;
}

static bool is_known(void)
{
	return unwind_leaf() == HYBRID_STOP_OUTERMOST && u.nr == 3;
}

static void check_chain(const char *name)
{
	begin(name, getpid());
	same(unwind_leaf(), HYBRID_STOP_OUTERMOST);
	same(u.nr, 3);
	same(u.sure, 3);
	same(frames[0].ip, at("leaf_at"));
	same(frames[1].ip, at("middle_ret") - 1);
	same(frames[2].ip, at("root_ret") - 1);
	same(frames[0].cfa, STACK + 32);
	same(frames[1].cfa, STACK + 32 + 48);
	end();
}

static void test_chain(void)
{
	check_chain("jit.so");
}

static void test_debug_frame(void)
{
	check_chain("jit-debug.so");
}

/* Nobody asks, nobody can be asked, nobody has said anything. */
static void test_unsaid(void)
{
	struct hybrid_jit *jit;

	begin("jit.so", getpid());
	jit = unwinder.jit;
	unwinder.jit = NULL;
	same(unwind_leaf(), HYBRID_STOP_NO_CFI);
	same(u.nr, 1);
	unwinder.jit = jit;
	u.pid = 0;
	same(unwind_leaf(), HYBRID_STOP_NO_CFI);
	u.pid = getpid();
	u.regs.value[HYBRID_X86_64_IP] = at("unsaid");
	hybrid_unwind(&unwinder, &u);
	same(u.stop, HYBRID_STOP_NO_CFI);
	same(u.nr, 1);
	check(is_known());
	/* What a task of 32 bits runs is something else. */
	u.abi = &hybrid_abi_32;
	u.regs.value[HYBRID_I386_IP] = at("leaf_at");
	hybrid_unwind(&unwinder, &u);
	same(u.nr, 1);
	end();
}

/* A frame that only all registers lead to. */
static void test_full(void)
{
	begin("jit.so", getpid());
	u.regs.value[HYBRID_X86_64_IP] = at("other_at");
	u.regs.value[12] = STACK + 64;
	u.regs.known |= 1U << 12;
	stack[9] = at("root_ret");
	hybrid_unwind(&unwinder, &u);
	same(u.stop, HYBRID_STOP_OUTERMOST);
	same(u.nr, 2);
	same(frames[0].cfa, STACK + 80);
	same(frames[1].ip, at("root_ret") - 1);
	end();
}

/* Where its one row is not true the code tells. */
static void test_one_row(void)
{
	static const struct { const char *label; unsigned int word; } places[] = {
		{ "whole_at", 5 }, { "whole_leave", 5 }, { "whole_left", 0 },
	};
	unsigned int i;

	begin("jit-debug.so", getpid());
	for (i = 0; i < ARRAY_SIZE(places); i++) {
		memset(stack, 0x11, sizeof(stack));
		/* At the return, the row's word is a return address, too. */
		stack[5] = at("root_ret");
		stack[places[i].word] = at("middle_ret");
		stack[places[i].word + 6] = at("root_ret");
		u.regs.value[HYBRID_X86_64_IP] = at(places[i].label);
		hybrid_unwind(&unwinder, &u);
		same(u.stop, HYBRID_STOP_OUTERMOST);
		same(u.nr, 3);
		same(frames[0].cfa, STACK + places[i].word * 8 + 8);
		same(frames[1].ip, at("middle_ret") - 1);
	}
	end();
}

static Elf64_Shdr *section(const char *name)
{
	Elf64_Ehdr *ehdr = (Elf64_Ehdr *)image;
	Elf64_Shdr *shdrs = (Elf64_Shdr *)(image + ehdr->e_shoff);
	const char *names = (const char *)image + shdrs[ehdr->e_shstrndx].sh_offset;
	unsigned int i;

	for (i = 1; i < ehdr->e_shnum && strcmp(names + shdrs[i].sh_name, name); i++)
		;
	check(i < ehdr->e_shnum);
	return &shdrs[i];
}

/* The linker's work, in memory alone: only where sections are does the image say. */
static u8 *load(void)
{
	Elf64_Shdr *text = section(".text"), *eh = section(".eh_frame");
	Elf64_Shdr *shdr = section(".rela.eh_frame");
	Elf64_Rela *rela = (Elf64_Rela *)(image + shdr->sh_offset);
	/* 32 bits say how far it is from the code. */
	u8 *frames_at = (u8 *)CODE + PAGE / 2;
	unsigned int i;
	u32 value;

	check(text->sh_size + eh->sh_size < PAGE / 2);
	memcpy((void *)CODE, image + text->sh_offset, text->sh_size);
	memcpy(frames_at, image + eh->sh_offset, eh->sh_size);
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

static void test_unlinked(void)
{
	u8 *loaded;

	begin("jit-unlinked.so", getpid());
	check(!is_known());
	loaded = load();
	pass();
	check(is_known());
	/* It is what is loaded that counts. */
	memset(loaded, 0, section(".eh_frame")->sh_size);
	pass();
	check(!is_known());
	section(".eh_frame")->sh_addr = 0;
	pass();
	check(!is_known());
	section(".eh_frame")->sh_addr = ~0ULL - 8;
	pass();
	check(!is_known());
	end();
}

/* What nobody called from there is no caller. */
static void test_false(void)
{
	begin("jit.so", getpid());
	check(is_known());
	stack[3] = at("leaf_at");
	u.regs.value[HYBRID_X86_64_IP] = at("leaf_at");
	hybrid_unwind(&unwinder, &u);
	same(u.stop, HYBRID_STOP_NO_CFI);
	same(u.nr, 1);
	end();
}

/* The list is looked at once in a pass. */
static void test_changed(void)
{
	size_t nr;

	begin("jit.so", getpid());
	descriptor->first = 0;
	check(!is_known());
	descriptor->first = (u64)&entries[0];
	check(!is_known());
	pass();
	check(is_known());
	/* What has not changed keeps its rows. */
	nr = ps.objects.nr_rows;
	pass();
	check(is_known());
	same(ps.objects.nr_rows, nr);
	same(ps.objects.nr, 2);
	/* Another image in the same place, of the same size. */
	memset(image, 0, image_size);
	pass();
	check(!is_known());
	same(ps.objects.nr, 1);
	end();
}

/* Of a process that is gone, what was read stays; of what runs in its place, not. */
static void test_gone(void)
{
	struct hybrid_space *before;
	pid_t pid;

	begin("jit.so", getpid());
	pid = fork();
	if (!pid)
		pause();
	u.pid = pid;
	check(is_known());
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	pass();
	check(is_known());
	before = u.space;
	u.space = hybrid_space_new();
	check(!hybrid_space_map(u.space, hybrid_space_find(before, CODE), true));
	check(!is_known());
	hybrid_space_put(u.space);
	u.space = before;
	check(!is_known());
	end();
}

/* What fork made may have another list. */
static void test_forked(void)
{
	pid_t pid;

	begin("jit.so", getpid());
	pid = fork();
	if (!pid)
		pause();
	descriptor->first = 0;
	check(!is_known());
	u.pid = pid;
	check(is_known());
	u.pid = getpid();
	check(!is_known());
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	end();
}

/* A child that is gone before it is looked at: what it began with is its parent's. */
static void test_forked_gone(void)
{
	begin("jit.so", getpid());
	u.pid = fork();
	if (!u.pid)
		_exit(0);
	waitpid(u.pid, NULL, 0);
	check(!is_known());
	u.pid = getpid();
	check(is_known());
	u.pid = 0x7fffffff;
	check(is_known());
	end();
}

/* The first one is good, and stays; what comes behind it is none. */
static void test_lists(void)
{
	begin("jit.so", getpid());
	/* A list that goes round, with and without what says so. */
	entries[0].next = (u64)&entries[0];
	check(is_known());
	entries[0].prev = (u64)&entries[0];
	pass();
	check(!is_known());
	entries[0].prev = 0;
	say(&entries[1], image, image_size);
	entries[0].next = (u64)&entries[1];
	entries[1].prev = (u64)&entries[0];
	entries[1].next = (u64)&entries[0];
	pass();
	check(is_known());
	/* Nothing there. */
	entries[0].next = 8;
	pass();
	check(is_known());
	entries[0].next = ~0ULL - 8;
	pass();
	check(is_known());
	descriptor->first = ~0ULL;
	pass();
	check(!is_known());
	descriptor->first = (u64)&entries[0];
	descriptor->version = 2;
	pass();
	check(!is_known());
	end();
}

/* Sizes that are none; the image behind them is found. */
static void test_sizes(void)
{
	static const u64 sizes[] = {
		0, 1, 15, 16, 64, HYBRID_JIT_BYTES + 1, 1ULL << 40, ~0ULL, HYBRID_JIT_BYTES - 64,
	};
	unsigned int i;

	begin("jit.so", getpid());
	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		say(&entries[0], image, sizes[i]);
		say(&entries[1], image, image_size);
		entries[0].next = (u64)&entries[1];
		entries[1].prev = (u64)&entries[0];
		pass();
		/* All that may be read of a process is spent on the last one. */
		same(is_known(), i + 1 < ARRAY_SIZE(sizes));
	}
	say(&entries[0], (void *)(~0UL - 8), image_size);
	entries[0].next = (u64)&entries[1];
	pass();
	check(is_known());
	end();
}

/* More images than are looked at: the first ones count. */
static void test_many(void)
{
	unsigned int nr = 2 * HYBRID_JIT_IMAGES, good, i;
	struct entry *many = calloc(nr, sizeof(*many));

	begin("jit.so", getpid());
	for (good = HYBRID_JIT_IMAGES - 1; good <= HYBRID_JIT_IMAGES; good++) {
		for (i = 0; i < nr; i++) {
			/* ELF files of nothing but a header. */
			say(&many[i], image, i == good ? image_size : 64);
			many[i].prev = i ? (u64)&many[i - 1] : 0;
			many[i].next = i + 1 < nr ? (u64)&many[i + 1] : 0;
		}
		descriptor->first = (u64)many;
		pass();
		same(is_known(), good < HYBRID_JIT_IMAGES);
	}
	end();
	free(many);
}

/* Images that lie, or are changed while they are read. */
static void break_image(void)
{
	unsigned int i, j;
	u8 *good;

	good = malloc(image_size);
	check(good);
	memcpy(good, image, image_size);
	tap_seed(20);
	for (i = 0; i < 3000; i++) {
		for (j = 0; j < 1 + i % 16; j++)
			image[tap_random() % image_size] = tap_random();
		pass();
		unwind_leaf();
		check(u.nr >= 1 && u.nr <= u.max_frames);
		memcpy(image, good, image_size);
	}
	pass();
	check(is_known());
	free(good);
}

static void test_broken(void)
{
	begin("jit-debug.so", getpid());
	break_image();
	end();
	begin("jit-unlinked.so", getpid());
	load();
	break_image();
	end();
}

/* Of a page that is not there, or of a file, nothing is read, and none is made. */
static void test_not_there(void)
{
	int flags = MAP_PRIVATE | MAP_FIXED;
	int fd = memfd_create("list", MFD_CLOEXEC);
	unsigned char there;

	begin("jit.so", getpid());
	same(pwrite(fd, descriptor, PAGE, 0), PAGE);
	check(mmap(descriptor, PAGE, PROT_READ, flags | MAP_POPULATE, fd, 0) == descriptor);
	check(!is_known());
	check(mmap(descriptor, PAGE, PROT_READ, flags | MAP_ANONYMOUS, -1, 0) == descriptor);
	pass();
	check(!is_known());
	check(!mincore(descriptor, PAGE, &there) && !(there & 1));
	close(fd);
	end();
}

/* What is mapped changes all the time: it is not looked at each time. */
static void test_mapped(void)
{
	struct hybrid_mapping other = { .start = CODE + PAGE, .end = CODE + 2 * PAGE };
	unsigned int i, known = 0;

	begin("jit.so", getpid());
	other.pid = getpid();
	for (i = 0; i < 100; i++) {
		check(!hybrid_process_map(&ps, &other, NULL, true));
		known += is_known();
	}
	check(known > 0 && known < 50);
	pass();
	check(is_known());
	end();
}

static const struct tap_test tests[] = {
	{ "jit: a chain by .eh_frame", test_chain },
	{ "jit: a chain by .debug_frame", test_debug_frame },
	{ "jit: an image that is not linked", test_unlinked },
	{ "jit: code that nothing is said of", test_unsaid },
	{ "jit: a row with all registers", test_full },
	{ "jit: one row for all", test_one_row },
	{ "jit: a caller that called something else", test_false },
	{ "jit: images that come, stay, change and go", test_changed },
	{ "jit: a process that is gone", test_gone },
	{ "jit: parent and child have different lists", test_forked },
	{ "jit: a child that is gone", test_forked_gone },
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
