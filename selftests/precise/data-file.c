// SPDX-License-Identifier: GPL-2.0
/*
 * Writes a perf.data file: tools/perf/Documentation/perf.data-file-format.txt.
 */
#include <string.h>
#include <sys/mman.h>

#include <linux/kernel.h>

#include "data-file.h"

#define FEATURE_ARCH	6
#define FEATURE_CPUID	9

struct section {
	u64	offset;
	u64	size;
};

struct file_header {
	char		magic[8];
	u64		size;
	u64		attr_size;
	struct section	attrs;
	struct section	data;
	struct section	event_types;
	u64		features[4];
};

struct file_attr {
	struct perf_event_attr	attr;
	struct section		ids;
};

/* sample_id_all, with a thread and a time. */
struct sample_id {
	u32	pid;
	u32	tid;
	u64	time;
};

#define NAME	256

struct comm {
	struct perf_event_header	header;
	u32				pid;
	u32				tid;
	char				comm[16];
	struct sample_id		id;
};

struct mmap2 {
	struct perf_event_header	header;
	u32				pid;
	u32				tid;
	u64				start;
	u64				len;
	u64				pgoff;
	u32				maj;
	u32				min;
	u64				ino;
	u64				ino_generation;
	u32				prot;
	u32				flags;
	char				filename[NAME];
	struct sample_id		id;
};

bool data_file_begin(struct data_file *f, const char *path, unsigned int precise,
		     const char *cpuid, bool plain)
{
	struct file_attr attr = {};
	struct file_header head = {};

	f->cpuid = cpuid;
	f->plain = plain;
	f->attr = (struct perf_event_attr) {
		.type = precise ? PERF_TYPE_HARDWARE : PERF_TYPE_SOFTWARE,
		.size = sizeof(f->attr), .precise_ip = precise, .sample_id_all = 1,
		.config = PERF_COUNT_HW_CPU_CYCLES, .sample_period = 1,
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
			       PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER |
			       PERF_SAMPLE_STACK_USER,
		.sample_regs_user = DATA_FILE_REGS, .sample_stack_user = DATA_FILE_STACK,
		.exclude_callchain_user = plain, .mmap = 1, .mmap2 = 1, .comm = 1,
		.comm_exec = 1,
	};
	f->file = fopen(path, "w");
	/* data_file_end() writes the head again. */
	attr.attr = f->attr;
	return f->file && fwrite(&head, sizeof(head), 1, f->file) == 1 &&
	       fwrite(&attr, sizeof(attr), 1, f->file) == 1;
}

void data_file_exec(struct data_file *f, pid_t pid, const char *name)
{
	struct comm comm = {
		.header = { .type = PERF_RECORD_COMM, .misc = PERF_RECORD_MISC_COMM_EXEC,
			    .size = sizeof(comm) },
		.pid = pid, .tid = pid, .id = { .pid = pid, .tid = pid },
	};

	snprintf(comm.comm, sizeof(comm.comm), "%s", name);
	fwrite(&comm, sizeof(comm), 1, f->file);
}

void data_file_map(struct data_file *f, pid_t pid, u64 time, const char *line)
{
	struct mmap2 map = {
		.header = { .type = PERF_RECORD_MMAP2, .misc = PERF_RECORD_MISC_USER,
			    .size = sizeof(map) },
		.pid = pid, .tid = pid, .prot = PROT_READ | PROT_EXEC, .flags = MAP_PRIVATE,
		.id = { .pid = pid, .tid = pid, .time = time },
	};
	unsigned long start, end, offset, ino;
	unsigned int maj, min;
	char mode[8], name[NAME] = "//anon";

	if (sscanf(line, "%lx-%lx %7s %lx %x:%x %lu %255[^\n]", &start, &end, mode, &offset, &maj,
		   &min, &ino, name) < 7 || mode[2] != 'x')
		return;
	map.start = start;
	map.len = end - start;
	map.pgoff = offset;
	map.maj = maj;
	map.min = min;
	map.ino = ino;
	memcpy(map.filename, name, NAME);
	fwrite(&map, sizeof(map), 1, f->file);
}

static unsigned int put_regs(const struct data_sample *s, u64 *to)
{
	const struct user_regs_struct *r = &s->regs;
	const u64 regs[] = {
		r->rax, r->rbx, r->rcx, r->rdx, r->rsi, r->rdi, r->rbp, r->rsp, s->ip,
		r->eflags, r->cs, r->ss, r->r8, r->r9, r->r10, r->r11, r->r12, r->r13, r->r14,
		r->r15,
	};

	to[0] = PERF_SAMPLE_REGS_ABI_64;
	memcpy(to + 1, regs, sizeof(regs));
	return 1 + ARRAY_SIZE(regs);
}

/* Of a plain file, what stands before the user's part. */
static unsigned int put_chain(const struct data_file *f, const struct data_sample *s, u64 *to)
{
	unsigned int i;

	for (i = 0; i < s->nr; i++) {
		if (f->plain && s->chain[i] == PERF_CONTEXT_USER)
			break;
		to[1 + i] = s->chain[i];
	}
	to[0] = i;
	return 1 + i;
}

void data_file_sample(struct data_file *f, const struct data_sample *s)
{
	struct perf_event_header header = {
		.type = PERF_RECORD_SAMPLE,
		.misc = PERF_RECORD_MISC_USER,
	};
	u64 words[4096];
	unsigned int nr = 0;
	u64 size = s->size ? DATA_FILE_STACK : 0;

	if (f->attr.precise_ip)
		header.misc |= PERF_RECORD_MISC_EXACT_IP;
	words[nr++] = s->ip;
	words[nr++] = (u64)s->pid << 32 | (u32)s->pid;
	words[nr++] = s->time;
	nr += put_chain(f, s, words + nr);
	nr += put_regs(s, words + nr);
	words[nr++] = size;
	header.size = sizeof(header) + nr * 8 + size + (size ? 8 : 0);
	fwrite(&header, sizeof(header), 1, f->file);
	fwrite(words, 8, nr, f->file);
	fwrite(s->stack, 1, size, f->file);
	if (size)
		fwrite(&s->size, 8, 1, f->file);
}

/* A feature is a string behind its length. */
static struct section put_string(FILE *file, const char *text)
{
	char buf[64] = "";
	struct section section = { .offset = ftell(file), .size = 4 + sizeof(buf) };
	u32 len = sizeof(buf);

	snprintf(buf, sizeof(buf), "%s", text);
	fwrite(&len, sizeof(len), 1, file);
	fwrite(buf, sizeof(buf), 1, file);
	return section;
}

bool data_file_end(struct data_file *f)
{
	struct file_header head = {
		.magic = "PERFILE2", .size = sizeof(head), .attr_size = sizeof(struct file_attr),
		.attrs = { sizeof(head), sizeof(struct file_attr) },
		.features = { 1 << FEATURE_ARCH | 1 << FEATURE_CPUID },
	};
	struct section features[2] = {};
	long at;

	head.data.offset = sizeof(head) + sizeof(struct file_attr);
	at = ftell(f->file);
	head.data.size = at - head.data.offset;
	fwrite(features, sizeof(features), 1, f->file);
	features[0] = put_string(f->file, "x86_64");
	features[1] = put_string(f->file, f->cpuid);
	fseek(f->file, at, SEEK_SET);
	fwrite(features, sizeof(features), 1, f->file);
	rewind(f->file);
	fwrite(&head, sizeof(head), 1, f->file);
	return !ferror(f->file) & !fclose(f->file);
}
