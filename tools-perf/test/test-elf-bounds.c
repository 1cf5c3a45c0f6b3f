// SPDX-License-Identifier: GPL-2.0
/*
 * Files that say of themselves what is not so: how much perf reads of them, and keeps.
 */
#include <fcntl.h>
#include <gelf.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <linux/kernel.h>
#include <linux/time64.h>
#include "abi.h"
#include "changed-elf.h"
#include "elf-bounds.h"
#include "file-copy.h"
#include "rows.h"
#include "space.h"
#include "tap.h"

#define AT	0x7f0000000000ULL
#define MIB	0x100000ULL

/* More than any of the files has without its holes. */
#define FEW	(1 * MIB)

static struct hybrid_file_budget budget;
static struct hybrid_objects objects;
static int file = -1;

static int open_file(const struct hybrid_mapping *mapping)
{
	(void)mapping;
	return fcntl(file, F_DUPFD_CLOEXEC, 0);
}

static uid_t uid;

static struct hybrid_file_user *user_of(const struct hybrid_mapping *mapping)
{
	return hybrid_file_user_get(mapping->object->objects->budget, uid);
}

/* The file is user 7's: nobody guards it. */
static void start(const char *name)
{
	read_image(name);
	hybrid_file_budget_init(&budget);
	budget.clock = tap_stopped_clock;
	hybrid_objects_init(&objects, open_file, hybrid_x86_abi);
	objects.budget = &budget;
	objects.user_of = user_of;
	uid = 7;
}

static void end(void)
{
	unsigned int i;

	hybrid_objects_exit(&objects);
	for (i = 0; i < budget.nr; i++) {
		same(budget.users[i].used[HYBRID_FILE_MEMORY], 0);
		same(budget.users[i].used[HYBRID_FILE_COPIES], 0);
	}
	close(file);
	file = -1;
}

static void write_file(u64 hole)
{
	file = memfd_create("test", MFD_CLOEXEC);
	check(write(file, image, size) == size && !ftruncate(file, size + hole) &&
	      !fchmod(file, 0777));
}

static struct hybrid_mapping map(void)
{
	struct hybrid_ident ident = { .path = "/file" };

	return (struct hybrid_mapping) {
		.start = AT, .end = AT + (1 << 20), .object = hybrid_object_get(&objects, &ident),
	};
}

static struct hybrid_row *row_of(const struct hybrid_mapping *mapping)
{
	return hybrid_object_row(mapping, AT + elf_file_symbol("frames.so", "leaf_at"));
}

static bool has_rule(const struct hybrid_row *row)
{
	return row && row->rule.kind == HYBRID_RULE_CFA;
}

static Elf64_Phdr *phdr_of(u32 type)
{
	Elf64_Phdr *phdr = (Elf64_Phdr *)(image + ehdr()->e_phoff);
	unsigned int i;

	for (i = 0; i < ehdr()->e_phnum && phdr[i].p_type != type; i++)
		;
	check(i < ehdr()->e_phnum);
	return &phdr[i];
}

static Elf64_Shdr *shdr_of(const char *name)
{
	unsigned int i = section(name);

	check(i);
	return shdr(i);
}

static void drop_sections(void)
{
	ehdr()->e_shoff = 0;
	ehdr()->e_shnum = 0;
	ehdr()->e_shstrndx = 0;
}

static void is_cheap(void)
{
	const struct hybrid_file_user *user = hybrid_file_user_get(&budget, 7);

	check(user->used[HYBRID_FILE_READ] < FEW);
	check(user->used[HYBRID_FILE_MEMORY] < FEW);
	check(!user->left_out);
}

/* Asks for all addresses, so that libdw is asked, too. */
static void ask_all(const struct hybrid_mapping *mapping)
{
	u64 ip;

	for (ip = AT; ip < AT + 0x4000; ip += 5)
		hybrid_object_row(mapping, ip);
}

static void try_file(u64 hole, bool rule)
{
	struct hybrid_mapping mapping;

	write_file(hole);
	mapping = map();
	same(has_rule(row_of(&mapping)), rule);
	ask_all(&mapping);
	is_cheap();
	hybrid_object_put(mapping.object);
	end();
}

static void no_sections(void)
{
	start("frames.so");
	drop_sections();
	try_file(0, true);
	start("frames.so");
	drop_sections();
	try_file(1ULL << 40, true);
	/* The segment with .eh_frame goes on with the hole. */
	start("frames.so");
	drop_sections();
	for (Elf64_Phdr *phdr = (Elf64_Phdr *)(image + ehdr()->e_phoff), *last = phdr +
	     ehdr()->e_phnum; phdr < last; phdr++)
		phdr->p_filesz = phdr->p_type == PT_LOAD ? 1ULL << 40 : phdr->p_filesz;
	try_file(1ULL << 41, true);
	/* libdw took all to the header's segment for .eh_frame. */
	start("frames.so");
	drop_sections();
	phdr_of(PT_GNU_EH_FRAME)->p_offset = size + (1ULL << 33);
	try_file(1ULL << 34, false);
	start("frames.so");
	drop_sections();
	phdr_of(PT_GNU_EH_FRAME)->p_filesz = 1ULL << 33;
	try_file(1ULL << 34, false);
}

/* What a section says of its size and place. */
static void lying_sections(void)
{
	static const char * const names[] = {
		".eh_frame", ".eh_frame_hdr", ".shstrtab", ".dynsym",
	};
	static const u64 sizes[] = {
		1ULL << 21, 60 * MIB, 64 * MIB, 64 * MIB + 1, 1ULL << 31, 1ULL << 40, ~0ULL,
	};
	struct hybrid_mapping mapping;
	Elf64_Shdr *section;
	unsigned int i, j;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		for (j = 0; j < ARRAY_SIZE(sizes); j++) {
			start("frames.so");
			section = shdr_of(names[i]);
			section->sh_offset = size;
			section->sh_size = sizes[j];
			write_file(1ULL << 40);
			mapping = map();
			ask_all(&mapping);
			is_cheap();
			hybrid_object_put(mapping.object);
			end();
		}
	}
}

/* More headers than there is room for. */
static void many_headers(void)
{
	start("frames.so");
	ehdr()->e_shnum = 0;
	((Elf64_Shdr *)(image + ehdr()->e_shoff))->sh_size = 0x10001;
	write_file(1ULL << 40);
	check(!hybrid_elf_begin(file, NULL));
	end();
	start("frames.so");
	ehdr()->e_phnum = 4097;
	write_file(1ULL << 40);
	check(!hybrid_elf_begin(file, NULL));
	end();
	/* Their place is not in the file. */
	start("frames.so");
	ehdr()->e_shoff = 1ULL << 50;
	try_file(0, true);
	start("frames.so");
	ehdr()->e_phoff = ~0ULL;
	try_file(0, false);
}

/* A byte that is unpacked to a GiB, and one that is not. */
static void bombs(void)
{
	static const u64 sizes[] = { 64 * MIB, 64 * MIB + 1, 1ULL << 30, ~0ULL };
	struct hybrid_mapping mapping;
	Elf64_Chdr *chdr;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		start("debug.so");
		shdr_of(".debug_frame")->sh_flags |= SHF_COMPRESSED;
		chdr = (Elf64_Chdr *)(image + shdr_of(".debug_frame")->sh_offset);
		*chdr = (Elf64_Chdr) { .ch_type = ELFCOMPRESS_ZLIB, .ch_size = sizes[i] };
		write_file(0);
		mapping = map();
		ask_all(&mapping);
		check(hybrid_file_user_get(&budget, 7)->used[HYBRID_FILE_MEMORY] < FEW);
		hybrid_object_put(mapping.object);
		end();
	}
}

/* libdw keeps all FDEs that it can't search, five times their size. */
static void many_fdes(void)
{
	struct hybrid_mapping mapping;
	struct hybrid_file_user *user;
	u8 *more = mmap(NULL, 32 * MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	memset(more, 1, 32 * MIB);
	start("frames.so");
	user = hybrid_file_user_get(&budget, 7);
	shdr_of(".eh_frame")->sh_offset = size;
	shdr_of(".eh_frame")->sh_size = 32 * MIB;
	image[shdr_of(".eh_frame_hdr")->sh_offset + 2] = 0xff;
	write_file(0);
	check(pwrite(file, more, 32 * MIB, size) == (ssize_t)(32 * MIB));
	mapping = map();
	check(!row_of(&mapping));
	check(mapping.object->is_left_out && hybrid_object_waits(mapping.object));
	/* No sample waits for it. */
	check(!objects.waiting);
	same(user->left_out, 1);
	check(!row_of(&mapping));
	same(user->left_out, 1);
	hybrid_object_put(mapping.object);
	end();
	munmap(more, 32 * MIB);
}

static u64 one_second_later(void)
{
	return tap_stopped_clock() + NSEC_PER_SEC;
}

/* perf opens a file that was left out once more a second later: some of the share is back then. */
static void another_second(void)
{
	const struct hybrid_file_limit *limit = &hybrid_file_limits[HYBRID_FILE_READ];
	struct hybrid_mapping mapping;

	start("frames.so");
	write_file(0);
	check(hybrid_file_take(hybrid_file_user_get(&budget, 7), HYBRID_FILE_READ, limit->user));
	mapping = map();
	check(!row_of(&mapping) && mapping.object->is_left_out);
	check(!row_of(&mapping) && mapping.object->is_left_out);
	budget.clock = one_second_later;
	check(has_rule(row_of(&mapping)) && !mapping.object->is_left_out);
	same(hybrid_file_user_get(&budget, 7)->left_out, 1);
	hybrid_object_put(mapping.object);
	end();
}

/* One user has had his share; another one reads the same file. */
static void two_users(void)
{
	struct hybrid_mapping mapping;

	start("frames.so");
	write_file(0);
	check(hybrid_file_take(hybrid_file_user_get(&budget, 7), HYBRID_FILE_READ,
			       hybrid_file_limits[HYBRID_FILE_READ].user - 128));
	mapping = map();
	check(!row_of(&mapping) && mapping.object->is_left_out);
	check(hybrid_object_waits(mapping.object));
	same(hybrid_file_user_get(&budget, 7)->left_out, 1);
	hybrid_object_put(mapping.object);
	uid = 8;
	mapping = map();
	check(has_rule(row_of(&mapping)) && !mapping.object->is_left_out);
	same(hybrid_file_user_get(&budget, 8)->left_out, 0);
	hybrid_object_put(mapping.object);
	end();
}

static int identify_none(const struct hybrid_mapping *mapping, struct hybrid_file_id *id)
{
	(void)mapping;
	(void)id;
	return -1;
}

/* The vDSO is no file: it has root's share, and, left out or not, it is compared with nothing. */
static void vdso_of_all(void)
{
	struct hybrid_ident ident = { .path = HYBRID_VDSO_64 };
	struct hybrid_object *again;
	struct hybrid_mapping mapping;

	start("frames.so");
	objects.identify = identify_none;
	write_file(0);
	check(hybrid_file_take(hybrid_file_user_get(&budget, 7), HYBRID_FILE_READ,
			       hybrid_file_limits[HYBRID_FILE_READ].user));
	mapping = map();
	hybrid_object_put(mapping.object);
	mapping.object = hybrid_object_get(&objects, &ident);
	mapping.record = mapping.object;
	check(has_rule(row_of(&mapping)));
	same(mapping.object->user->uid, 0);
	hybrid_object_leave_out(mapping.object, HYBRID_FILE_READ);
	again = hybrid_object_get(&objects, &ident);
	check(again == mapping.object);
	objects.waiting = NULL;
	hybrid_object_row(&mapping, AT + elf_file_symbol("frames.so", "outer_ret"));
	same(mapping.object->state, HYBRID_OBJECT_READY);
	check(!objects.waiting && !hybrid_object_waits(mapping.object));
	hybrid_object_put(again);
	hybrid_object_put(mapping.object);
	end();
}

/* What another file of the user has in memory gives way; it is read again when it is needed. */
static void gives_way(void)
{
	struct hybrid_ident other = { .path = "/other" };
	struct hybrid_file_user *user;
	struct hybrid_mapping a, b;
	u64 ip = AT + elf_file_symbol("frames.so", "leaf_at"), once;

	start("frames.so");
	user = hybrid_file_user_get(&budget, 7);
	write_file(0);
	a = map();
	check(has_rule(row_of(&a)));
	once = user->used[HYBRID_FILE_MEMORY];
	check(hybrid_object_forget_cfi(a.object));
	check(once > user->used[HYBRID_FILE_MEMORY]);
	check(hybrid_object_row(&a, ip + 1));
	b = a;
	b.object = hybrid_object_get(&objects, &other);
	/* There is room for its headers alone. */
	once = hybrid_file_limits[HYBRID_FILE_MEMORY].user - user->used[HYBRID_FILE_MEMORY] - 6000;
	check(hybrid_file_take(user, HYBRID_FILE_MEMORY, once));
	check(has_rule(row_of(&b)) && !b.object->is_left_out);
	check(!user->left_out && !hybrid_cfi_is_read(&a.object->cfi));
	hybrid_file_give(user, HYBRID_FILE_MEMORY, once);
	hybrid_object_put(a.object);
	hybrid_object_put(b.object);
	end();
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "elf bounds: programs without section headers", no_sections },
		{ "elf bounds: sections that are not as large as they say", lying_sections },
		{ "elf bounds: many headers", many_headers },
		{ "elf bounds: sections that are unpacked", bombs },
		{ "elf bounds: FDEs that can't be searched", many_fdes },
		{ "elf bounds: a file that was left out, a second later", another_second },
		{ "elf bounds: two users of a file", two_users },
		{ "elf bounds: the vDSO is of all users", vdso_of_all },
		{ "elf bounds: memory is given back", gives_way },
	};

	return tap_run(tests, ARRAY_SIZE(tests));
}
