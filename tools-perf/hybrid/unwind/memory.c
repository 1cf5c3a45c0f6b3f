// SPDX-License-Identifier: GPL-2.0
/*
 * What only the process itself has, as long as it runs.
 *
 * Code that no file backs: compiled by the program as it runs, or copied by it
 * from a template, as Python does for each function with -X perf. No CFI tells of
 * it, and mostly no frame pointer, so the code is read and asked.
 *
 * And words below the stack pointer, where no dump reaches: OpenSSL's AVX2 code
 * saves its caller's there.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <linux/bits.h>
#include <linux/hash.h>
#include <linux/kernel.h>
#include "../rules/rows.h"
#include "memory.h"
#include "seen-code.h"

#define PAGE	4096
#define PAGES	64

/* Passes over the rings in which who was asked is likely to be asked again. */
#define ASKED_PASSES	4

/* Documentation/admin-guide/mm/pagemap.rst: bits of an entry of 8 bytes a page. */
#define PAGEMAP_FILE	BIT_ULL(61)
#define PAGEMAP_SWAPPED	BIT_ULL(62)
#define PAGEMAP_PRESENT	BIT_ULL(63)

/**
 * struct code_page - code as it was in this pass over the rings
 * @gen: of the space that it is in
 * @pid: of the process that was sampled: what fork made has a copy of its own
 * @addr: of its first byte
 * @pass: when it was read
 * @readable: @bytes are valid
 * @bytes: the code
 */
struct code_page {
	u64	gen;
	pid_t	pid;
	u64	addr;
	u64	pass;
	bool	readable;
	u8	bytes[PAGE];
};

/* Code from so many bytes before an address on counts as what its rule was made from. */
#define BEFORE	64

#define RULES	1024

/**
 * struct code_rule - what the code at an address has told
 * @gen: of the space that it is in
 * @pid: of the process that was sampled
 * @ip: the address; 0: none
 * @proof: the code that was asked
 * @told: @rule is valid: else it did not tell
 * @rule: for the caller
 */
struct code_rule {
	u64				gen;
	pid_t				pid;
	u64				ip;
	struct hybrid_code_proof	proof;
	bool				told;
	struct hybrid_rule		rule;
};

/**
 * struct hybrid_memory - the memory of the process that was looked at last
 * @fd: its /proc/PID/mem, or -1
 * @pagemap: its /proc/PID/pagemap, or -1
 * @pid: the process
 * @gen: of its space
 * @pass: counts those over the rings; never 0
 * @asked: the last one in which a process was there to be asked for anything; 0: none
 * @again: what is asked for is known from before
 * @pages: what was read, by address, space and process
 * @rules: what the code told, by address, space and process
 * @seen: of the sample
 */
struct hybrid_memory {
	int			 fd;
	int			 pagemap;
	pid_t			 pid;
	u64			 gen;
	u64			 pass;
	u64			 asked;
	bool			 again;
	struct code_page	 pages[PAGES];
	struct code_rule	 rules[RULES];
	struct hybrid_seen_code	 seen;
};

/**
 * struct reader - of the code of a process
 * @code: the interface
 * @memory: keeps what is read; NULL: only code of files can be read
 * @space: of the process
 * @mapping: that was read last
 * @gen: of @space
 * @pid: the process
 * @ip: what is read around it counts as read
 * @from: of what was read in memory that no file backs, the first byte
 * @to: behind the last one; 0: nothing was read
 */
struct reader {
	struct hybrid_code		 code;
	struct hybrid_memory		*memory;
	struct hybrid_space		*space;
	const struct hybrid_mapping	*mapping;
	u64				 gen;
	pid_t				 pid;
	u64				 ip;
	u64				 from;
	u64				 to;
};

struct hybrid_memory *hybrid_memory_new(void)
{
	struct hybrid_memory *memory = calloc(1, sizeof(*memory));

	if (memory) {
		memory->fd = -1;
		memory->pagemap = -1;
		memory->pass = 1;
	}
	return memory;
}

static void close_memory(struct hybrid_memory *memory)
{
	if (memory->fd >= 0)
		close(memory->fd);
	if (memory->pagemap >= 0)
		close(memory->pagemap);
	memory->fd = -1;
	memory->pagemap = -1;
}

void hybrid_memory_delete(struct hybrid_memory *memory)
{
	if (!memory)
		return;
	close_memory(memory);
	free(memory);
}

void hybrid_memory_forget(struct hybrid_memory *memory)
{
	if (memory)
		memory->pass++;
}

bool hybrid_memory_is_asked(const struct hybrid_memory *memory)
{
	return memory && memory->asked && memory->pass - memory->asked < ASKED_PASSES;
}

void hybrid_memory_look_again(struct hybrid_memory *memory, bool again)
{
	memory->again = again;
}

static void note_asked(struct hybrid_memory *memory)
{
	if (!memory->again)
		memory->asked = memory->pass;
}

/* The file stays that of the space it was opened for: exec makes another space. */
static void open_memory(struct hybrid_memory *memory, pid_t pid, u64 gen)
{
	char path[64];

	if (memory->fd >= 0 && memory->pid == pid && memory->gen == gen) {
		note_asked(memory);
		return;
	}
	close_memory(memory);
	snprintf(path, sizeof(path), "/proc/%d/mem", pid);
	memory->fd = open(path, O_RDONLY | O_CLOEXEC);
	/* For those that are gone before they can be asked nobody has to be quicker. */
	if (memory->fd < 0)
		return;
	note_asked(memory);
	snprintf(path, sizeof(path), "/proc/%d/pagemap", pid);
	memory->pagemap = open(path, O_RDONLY | O_CLOEXEC);
	memory->pid = pid;
	memory->gen = gen;
}

/* What /proc/PID/pagemap says of a page; 0 where the process, or its memory, is gone. */
static ssize_t read_entry(const struct hybrid_memory *memory, u64 addr, u64 *entry)
{
	if (memory->fd < 0 || memory->pagemap < 0)
		return 0;
	return pread(memory->pagemap, entry, sizeof(*entry), addr / PAGE * sizeof(*entry));
}

/*
 * All within a page, and only if that is there, and of no file: a file system of
 * the user's may let who reads it wait for ever, and a page that was never touched
 * would be made.
 */
static bool read_memory(const struct hybrid_memory *memory, u64 addr, void *dst, unsigned int size)
{
	u64 entry;

	return read_entry(memory, addr, &entry) == sizeof(entry) &&
	       entry & PAGEMAP_PRESENT && !(entry & PAGEMAP_FILE) &&
	       pread(memory->fd, dst, size, addr) == size;
}

static bool is_page(const struct code_page *page, const struct reader *reader, u64 addr)
{
	return page->pass && page->addr == addr && page->gen == reader->gen &&
	       page->pid == reader->pid;
}

/*
 * From the process that was sampled. Where that is gone, and nothing was read of it,
 * from the one that mapped the page: fork copied it from there.
 */
static void fill_page(const struct reader *reader, struct code_page *page)
{
	struct hybrid_memory *memory = reader->memory;
	u64 entry;

	open_memory(memory, reader->pid, reader->gen);
	if (!page->readable && reader->pid != reader->mapping->pid &&
	    !read_entry(memory, page->addr, &entry))
		open_memory(memory, reader->mapping->pid, reader->gen);
	if (read_memory(memory, page->addr, page->bytes, PAGE))
		page->readable = true;
}

/* What was read of a process that is gone by now is what its last samples ran. */
static const struct code_page *read_page(const struct reader *reader, u64 addr)
{
	struct hybrid_memory *memory = reader->memory;
	u64 key = addr / PAGE + reader->gen + ((u64)reader->pid << 32);
	struct code_page *page = &memory->pages[hash_64(key, 6)];

	if (!is_page(page, reader, addr)) {
		page->addr = addr;
		page->gen = reader->gen;
		page->pid = reader->pid;
		page->readable = false;
	} else if (page->pass == memory->pass) {
		return page;
	}
	page->pass = memory->pass;
	fill_page(reader, page);
	return page;
}

/* JIT code may jump to code of a file: V8 maps its builtins near its heap. */
static int read_file(const struct hybrid_mapping *mapping, u64 addr, void *dst, unsigned int len)
{
	u64 at = addr & (PAGE - 1);
	const struct hybrid_page *page;

	if (!hybrid_object_use(mapping))
		return -1;
	page = hybrid_page_read(mapping->object, addr - at - mapping->start + mapping->pgoff);
	if (!page || page->nr < at + len || !hybrid_object_is_current(mapping->object))
		return -1;
	memcpy(dst, page->bytes + at, len);
	return 0;
}

/* Of what is far from the address no walk can tell that it is the same. */
static void note_read(struct reader *reader, u64 addr, unsigned int len)
{
	u64 from = (reader->ip - BEFORE) & -sizeof(u64);
	u64 to = from + HYBRID_CODE_WORDS * sizeof(u64);

	if (addr < from || addr + len > to)
		return;
	reader->from = reader->to ? min(reader->from, addr) : addr;
	reader->to = max(reader->to, addr + len);
}

/* As the sample had it; or as it is, if that is known to stay. */
static int read_made(const struct reader *reader, u64 addr, void *dst, unsigned int len)
{
	const struct hybrid_memory *memory = reader->memory;
	u64 at = addr & (PAGE - 1);
	const struct code_page *page;

	if (!memory)
		return -1;
	if (hybrid_seen_code_read(&memory->seen, reader->gen, reader->pid, addr, dst, len))
		return 0;
	if (hybrid_seen_code_is_rewritten(&memory->seen, reader->pid, addr, memory->pass))
		return -1;
	page = read_page(reader, addr - at);
	if (!page->readable)
		return -1;
	memcpy(dst, page->bytes + at, len);
	return 0;
}

static int read_process(void *code, unsigned long addr, void *dst, unsigned int len)
{
	struct reader *reader = container_of(code, struct reader, code);
	u64 at = addr & (PAGE - 1);

	if (addr < reader->mapping->start || addr >= reader->mapping->end)
		reader->mapping = hybrid_space_find(reader->space, addr) ?: reader->mapping;
	if (len > PAGE - at || addr < reader->mapping->start || addr >= reader->mapping->end)
		return -1;
	if (reader->mapping->object)
		return read_file(reader->mapping, addr, dst, len);
	note_read(reader, addr, len);
	return read_made(reader, addr, dst, len);
}

static bool reader_init(struct reader *reader, struct hybrid_memory *memory,
			struct hybrid_space *space, pid_t pid, const struct hybrid_abi *abi,
			u64 ip)
{
	*reader = (struct reader) {
		.code = { .read = read_process, .word = abi->word },
		.memory = memory, .space = space, .mapping = hybrid_space_find(space, ip),
		.gen = space->gen, .pid = pid, .ip = ip,
	};
	return reader->mapping;
}

/* Less than a page, of two pages maybe. */
static bool read_all(struct reader *reader, u64 addr, void *dst, unsigned int size)
{
	unsigned int first = min_t(u64, size, PAGE - addr % PAGE);

	return !read_process(&reader->code, addr, dst, first) &&
	       (first == size ||
		!read_process(&reader->code, addr + first, dst + first, size - first));
}

/* Sets the hash of a proof; false: not all of the code can be read. */
static bool prove_code(struct reader *reader, struct hybrid_code_proof *proof)
{
	unsigned int size = proof->words * sizeof(u64), i;
	u64 words[HYBRID_CODE_WORDS];

	if (!size || !read_all(reader, proof->start, words, size))
		return false;
	proof->hash = 0;
	for (i = 0; i < proof->words; i++)
		proof->hash = hybrid_code_hash(proof->hash, words[i]);
	return true;
}

/* The words that have what was read. */
static bool prove_read(struct reader *reader, struct hybrid_code_proof *proof)
{
	hybrid_code_proof_of(proof, reader->from, reader->to);
	return prove_code(reader, proof);
}

bool hybrid_memory_rule(struct hybrid_memory *memory, struct hybrid_space *space,
			pid_t pid, const struct hybrid_abi *abi, u64 ip, struct hybrid_rule *rule,
			struct hybrid_code_proof *proof)
{
	struct hybrid_code_proof now;
	struct code_rule *known;
	struct reader reader;

	if (proof)
		proof->words = 0;
	if (!memory || !reader_init(&reader, memory, space, pid, abi, ip))
		return false;
	known = &memory->rules[hash_64(ip + space->gen + ((u64)pid << 32), 10)];
	now = known->proof;
	if (known->ip != ip || known->gen != space->gen || known->pid != pid ||
	    !prove_code(&reader, &now) || now.hash != known->proof.hash) {
		reader.from = 0;
		reader.to = 0;
		known->ip = ip;
		known->gen = space->gen;
		known->pid = pid;
		known->told = abi->arch->rule(&reader.code, ip, &known->rule);
		if (!prove_read(&reader, &known->proof))
			known->ip = 0;
	}
	*rule = known->rule;
	if (proof && known->ip)
		*proof = known->proof;
	return known->told;
}

bool hybrid_memory_prove(struct hybrid_memory *memory, struct hybrid_space *space, pid_t pid,
			 const struct hybrid_abi *abi, struct hybrid_code_proof *proof)
{
	struct reader reader;

	return memory && reader_init(&reader, memory, space, pid, abi, proof->start) &&
	       prove_code(&reader, proof);
}

int hybrid_memory_code(struct hybrid_memory *memory, struct hybrid_space *space, pid_t pid,
		       const struct hybrid_abi *abi, u64 addr, void *dst, unsigned int size)
{
	struct reader reader;

	return memory && reader_init(&reader, memory, space, pid, abi, addr) &&
	       read_all(&reader, addr, dst, size) ? 0 : -1;
}

/*
 * Has the process replaced the code from which the rule for @ip is worked out? The analysis may
 * read other pages in place of this one, so the bytes are copied before.
 */
static bool is_replaced(const struct hybrid_seen_code *seen, struct reader *reader,
			const struct hybrid_abi *abi, u64 ip)
{
	const struct code_page *page = read_page(reader, seen->start & -PAGE);
	u8 now[HYBRID_SEEN_CODE];
	struct hybrid_rule rule;

	if (!page->readable)
		return false;
	memcpy(now, page->bytes + seen->start % PAGE, seen->size);
	if (!hybrid_seen_code_differs(seen, now, 0, ~0ULL))
		return false;
	abi->arch->rule(&reader->code, ip, &rule);
	return reader->to &&
	       hybrid_seen_code_differs(seen, now, reader->from, reader->to - HYBRID_MAX_INSN + 1);
}

void hybrid_memory_see(struct hybrid_memory *memory, struct hybrid_space *space, pid_t pid,
		       const struct hybrid_abi *abi, const struct hybrid_made_code *code)
{
	struct hybrid_seen_code *seen;
	struct reader reader;

	if (!memory)
		return;
	seen = &memory->seen;
	seen->size = 0;
	if (code->ip - code->start >= code->size ||
	    code->size > HYBRID_SEEN_CODE || code->start % PAGE + code->size > PAGE ||
	    !reader_init(&reader, memory, space, pid, abi, code->ip) ||
	    reader.mapping->object)
		return;
	seen->gen = space->gen;
	seen->pid = pid;
	seen->start = code->start;
	seen->size = code->size;
	memcpy(seen->bytes, code->bytes, code->size);
	if (is_replaced(seen, &reader, abi, code->ip))
		hybrid_seen_code_rewritten(seen, memory->pass);
}

/*
 * Bytes from the first instruction of a function to the end of its prologue, at most. A function
 * that V8 has compiled checks its code object first, with 14 bytes of code:
 * CodeGenerator::BailoutIfDeoptimized() in src/compiler/backend/x64/code-generator-x64.cc.
 */
#define MAX_PROLOGUE	48

bool hybrid_memory_has_frame(struct hybrid_memory *memory, struct hybrid_space *space, pid_t pid,
			     const struct hybrid_abi *abi, u64 ip)
{
	/* push %rbp; mov %rsp,%rbp */
	static const u8 prologue[] = { 0x55, 0x48, 0x89, 0xe5 };
	const struct hybrid_mapping *mapping = hybrid_space_find(space, ip);
	u8 code[MAX_PROLOGUE];

	return mapping && !mapping->object && hybrid_space_is_framed(space, mapping, ip) &&
	       !hybrid_memory_code(memory, space, pid, abi, ip, code, sizeof(code)) &&
	       !memmem(code, sizeof(code), prologue, sizeof(prologue));
}

bool hybrid_memory_around(struct hybrid_memory *memory, struct hybrid_space *space, pid_t pid,
			  const struct hybrid_abi *abi, u64 ip, u64 *begins)
{
	struct reader reader;

	if (!memory || !reader_init(&reader, memory, space, pid, abi, ip))
		return false;
	abi->arch->around(&reader.code, ip, begins);
	return true;
}

int hybrid_memory_read(struct hybrid_memory *memory, struct hybrid_space *space,
		       pid_t pid, u64 addr, unsigned int size, u64 *value)
{
	if (!memory || pid <= 0 || addr % PAGE + size > PAGE)
		return -1;
	open_memory(memory, pid, space->gen);
	*value = 0;
	return read_memory(memory, addr, value, size) ? 0 : -1;
}

bool hybrid_memory_is_absent(struct hybrid_memory *memory, struct hybrid_space *space, pid_t pid,
			     u64 addr)
{
	u64 entry;

	if (!memory || pid <= 0)
		return false;
	open_memory(memory, pid, space->gen);
	if (read_entry(memory, addr, &entry) != sizeof(entry))
		return false;
	return entry & PAGEMAP_FILE || !(entry & (PAGEMAP_PRESENT | PAGEMAP_SWAPPED));
}

int hybrid_memory_copy(struct hybrid_memory *memory, struct hybrid_space *space,
		       pid_t pid, u64 addr, void *dst, size_t size)
{
	size_t part;

	if (!memory || pid <= 0 || addr + size < addr)
		return -1;
	open_memory(memory, pid, space->gen);
	while (size) {
		part = min(size, (size_t)(PAGE - addr % PAGE));
		if (!read_memory(memory, addr, dst, part))
			return -1;
		addr += part;
		dst += part;
		size -= part;
	}
	return 0;
}

bool hybrid_memory_is_return(struct hybrid_memory *memory, struct hybrid_space *space,
			     pid_t pid, const struct hybrid_abi *abi, u64 ret)
{
	struct reader reader;
	u8 byte;

	return !memory || !reader_init(&reader, memory, space, pid, abi, ret) ||
	       read_process(&reader.code, ret, &byte, sizeof(byte)) ||
	       abi->arch->is_return(&reader.code, ret);
}

enum hybrid_effect hybrid_memory_after(struct hybrid_memory *memory,
				       struct hybrid_space *space, pid_t pid,
				       const struct hybrid_abi *abi, u64 ip, u64 *next)
{
	struct reader reader;

	*next = ip;
	if (!reader_init(&reader, memory, space, pid, abi, ip))
		return HYBRID_EFFECT_SAME;
	return abi->arch->after(&reader.code, ip, next);
}
