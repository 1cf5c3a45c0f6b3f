// SPDX-License-Identifier: GPL-2.0
/*
 * Rules for frames of a JVM: each form of code, and what differs from it in one byte.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include "abi.h"
#include "frame-rule.h"
#include "interpreter-rule.h"
#include "method-rule.h"
#include "own-memory.h"
#include "rule-forms.h"
#include "tap.h"

#define PAGE	4096
#define FRAME	48
#define SP	0x7ffc00010000ULL
#define RBX	3

/* Code is in the second of two pages; the one after them is not mapped. */
static u8 *code;
static struct java_vm vm;
static struct java_blob blob;
static struct hybrid_frame frame;
static struct hybrid_unwind u;

static void begin(void)
{
	u8 *at = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	check(at != MAP_FAILED && !munmap(at + 2 * PAGE, PAGE));
	memset(at, 0x90, 2 * PAGE);
	code = at + PAGE;
	own_begin();
	memset(&vm, 0, sizeof(vm));
	vm.pm = own.pm;
	memset(&own.pm, 0, sizeof(own.pm));
	u = (struct hybrid_unwind) { .abi = &hybrid_abi_64, .frames = &frame, .max_frames = 1 };
	u.regs.value[hybrid_abi_64.sp] = SP;
	u.regs.known = (1U << HYBRID_X86_64_NR) - 1;
}

static void end(void)
{
	hybrid_process_memory_exit(&vm.pm);
	own_end();
	munmap(code - PAGE, 2 * PAGE);
}

/* Writes bytes as "48 83 c4 20" has them to @at, and returns their number. */
static unsigned int put(u8 *at, const char *hex)
{
	unsigned int nr = 0;
	char *next;

	while (*hex) {
		at[nr++] = strtoul(hex, &next, 16);
		hex = next + strspn(next, " ");
	}
	return nr;
}

/* The method's code are those bytes, and then instructions of one byte. */
static unsigned int set_method(const char *hex, u32 frame_size, s32 complete)
{
	memset(code, 0x90, PAGE);
	blob = (struct java_blob) {
		.kind = JAVA_BLOB_METHOD, .code = (u64)code, .end = (u64)code + 1024,
		.frame_size = frame_size, .frame_complete = complete,
	};
	return put(code, hex);
}

/* How far above sp the innermost frame ends, with @at bytes of the method behind it; 0: unknown. */
static unsigned int cfa_at(unsigned int at, bool *saved)
{
	struct hybrid_rule rule;

	if (!java_method_rule(&vm, &blob, (u64)code + at, true, &rule))
		return 0;
	same(rule.kind, HYBRID_RULE_CFA);
	same(rule.base, HYBRID_BASE_SP);
	same(rule.ra_off, -8);
	*saved = rule.bp == HYBRID_BP_AT_CFA;
	return rule.cfa_off;
}

#define ADD	"48 83 c4 20"
#define LEFT	ADD " 5d "

static void leaving(void)
{
	static const struct {
		const char	*code;
		u32		 frame_size;
		unsigned int	 cfa;
	} cases[] = {
		/* add $32,%rsp, with an immediate of one byte or four; and what is similar. */
		{ ADD, FRAME, 16 }, { "48 81 c4 20 0 0 0", FRAME, 16 },
		{ "49 83 c4 20", FRAME, FRAME }, { "48 82 c4 20", FRAME, FRAME },
		{ "48 83 c5 20", FRAME, FRAME }, { "48 83 c4 21", FRAME, FRAME },
		{ "49 81 c4 20 0 0 0", FRAME, FRAME }, { "48 80 c4 20 0 0 0", FRAME, FRAME },
		{ "48 81 c5 20 0 0 0", FRAME, FRAME }, { "48 81 c4 20 1 0 0", FRAME, FRAME },
		{ "83 c4 20", FRAME, FRAME }, { "81 c4 20 0 0 0", FRAME, FRAME },
		/* pop %rbp: alone if nothing is to be added. */
		{ LEFT, FRAME, 8 }, { "48 81 c4 20 0 0 0 5d", FRAME, 8 },
		{ ADD " 5c", FRAME, FRAME }, { "5d", FRAME, FRAME }, { "5d", 16, 8 },
		{ "5c", 16, 16 }, { "48 83 c4 18 5d", FRAME, FRAME }, { "", FRAME, FRAME },
		/* cmp disp(%r15),%rsp; ja */
		{ LEFT "49 3b 67 28", FRAME, 8 }, { LEFT "49 3b a7 28 3 0 0", FRAME, 8 },
		{ LEFT "49 3b 67 28 f 87 1 2 3 4", FRAME, 8 },
		{ LEFT "49 3b a7 28 3 0 0 f 87 1 2 3 4", FRAME, 8 },
		{ LEFT "f 87 1 2 3 4", FRAME, 8 }, { LEFT "e 87 1 2 3 4", FRAME, FRAME },
		{ LEFT "f 88 1 2 3 4", FRAME, FRAME }, { LEFT "48 3b 67 28", FRAME, FRAME },
		{ LEFT "49 3a 67 28", FRAME, FRAME }, { LEFT "49 3b 66 28", FRAME, FRAME },
		{ LEFT "48 3b a7 28 3 0 0", FRAME, FRAME },
		{ LEFT "49 3a a7 28 3 0 0", FRAME, FRAME },
		{ LEFT "49 3b a6 28 3 0 0", FRAME, FRAME },
		/* mov disp(%r15),%r10; test %eax,(%r10) */
		{ LEFT "4d 8b 97 28 3 0 0 41 85 2", FRAME, 8 },
		{ LEFT "4d 8b 97 28 3 0 0", FRAME, 8 }, { LEFT "41 85 2", FRAME, 8 },
		{ LEFT "40 85 2", FRAME, FRAME }, { LEFT "41 84 2", FRAME, FRAME },
		{ LEFT "41 85 3", FRAME, FRAME }, { LEFT "4c 8b 97 28 3 0 0", FRAME, FRAME },
		{ LEFT "4d 8a 97 28 3 0 0", FRAME, FRAME },
		{ LEFT "4d 8b 96 28 3 0 0", FRAME, FRAME },
		/* The code begins with the look at the safepoint: its operand is no pop %rbp. */
		{ "f 87 0 0 0 5d", 16, 16 }, { "49 3b a7 0 0 0 5d", 16, 16 },
		{ "49 3b 67 5d", 16, 16 }, { "4d 8b 97 0 0 0 5d", 16, 16 },
		/* leave, after an operand of 0 */
		{ "0 0 0 0 c9", FRAME, 8 }, { "0 0 0 0 c9 49 3b 67 28", FRAME, 8 },
		{ "1 0 0 0 c9", FRAME, FRAME }, { "0 0 0 0 c8", FRAME, FRAME },
		{ "0 0 0 c9", FRAME, FRAME },
	};
	unsigned int i, nr;
	bool saved;

	begin();
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		nr = set_method(cases[i].code, cases[i].frame_size, 0);
		if (!check(cfa_at(nr, &saved) == cases[i].cfa))
			same_text(cases[i].code, "");
		same(saved, cases[i].cfa != 8);
	}
	/* Less code than what is looked for. */
	for (i = 0; i < 10; i++) {
		set_method("", FRAME, 0);
		same(cfa_at(i, &saved), FRAME);
		set_method("", 16, 0);
		same(cfa_at(i, &saved), 16);
	}
	end();
}

/*
 * The frame at each byte of a prologue: 'r' where the return address is at sp, 's' where bp is
 * saved above it, 'f' where it stands, and 'm' where it stands with bp in its register; '-': it is
 * not known.
 */
static void expect_prologue(int line, const char *hex, u32 frame_size, s32 complete,
			    const char *want)
{
	char got[64] = "";
	unsigned int at, cfa;
	bool saved = false;

	set_method(hex, frame_size, complete);
	for (at = 0; at < strlen(want) && at < sizeof(got) - 1; at++) {
		cfa = cfa_at(at, &saved);
		got[at] = !cfa ? '-' : cfa == 8 && !saved ? 'r' : cfa == 16 && saved ? 's' :
			  cfa != frame_size ? '?' : saved ? 'f' : 'm';
	}
	tap_same_text(got, want, __FILE__, line);
}

#define PROLOGUE(hex, frame_size, complete, want) \
	expect_prologue(__LINE__, hex, frame_size, complete, want)

static void prologues(void)
{
	begin();
	/* push %rbp; sub $32,%rsp */
	PROLOGUE("55 48 83 ec 20 90 90", FRAME, 7, "rssssff");
	PROLOGUE("90 55 48 83 ec 20 90 90", FRAME, 8, "rrssssff");
	PROLOGUE("55 48 81 ec 20 0 0 0 90", FRAME, 9, "rsssssssf");
	/* The same with mov %rsp,%rbp between them. */
	PROLOGUE("55 48 8b ec 48 83 ec 20 90", FRAME, 9, "rsssssssf");
	PROLOGUE("55 48 89 e5 48 83 ec 20 90", FRAME, 9, "rsssssssf");
	PROLOGUE("55 49 8b ec 48 83 ec 20 90", FRAME, 9, "---------");
	PROLOGUE("55 48 8b e5 48 83 ec 20 90", FRAME, 9, "---------");
	PROLOGUE("55 48 89 ec 48 83 ec 20 90", FRAME, 9, "---------");
	/* sub $40,%rsp; mov %rbp,32(%rsp) */
	PROLOGUE("48 83 ec 28 48 89 6c 24 20", FRAME, 9, "rsssmmmmm");
	PROLOGUE("48 81 ec 28 0 0 0 90", FRAME, 8, "rssssssm");
	/* Nothing is to be subtracted. */
	PROLOGUE("90 55 90 90", 16, 4, "rrss");
	/* Of another size, or none. */
	PROLOGUE("55 48 83 ec 30 90", FRAME, 6, "------");
	PROLOGUE("54 48 83 ec 20 90", FRAME, 6, "------");
	/* It ends with the code before which the frame is whole, or does not fit. */
	PROLOGUE("55 48 83 ec 20", FRAME, 5, "rssssf");
	PROLOGUE("55 48 83 ec 20", FRAME, 4, "----f");
	PROLOGUE("55 48 81 ec 20 0 0 0", FRAME, 8, "rsssssssf");
	PROLOGUE("55 48 81 ec 20 0 0 0", FRAME, 7, "-------f");
	PROLOGUE("90 90", FRAME, -1, "--");
	PROLOGUE("90 90", 8, 0, "--");
	end();
}

static struct java_interpreter interpreter;

/* Code that has such a kind, of which a frame is at @at. */
static bool rule_of(unsigned int kind, unsigned int at, bool innermost, struct hybrid_rule *rule)
{
	static struct hybrid_frame frames[2];

	blob.kind = kind;
	frames[1].ret = (u64)code + at;
	frames[0].ret = innermost ? frames[1].ret : 1;
	u.frames = frames;
	return java_frame_rule(&vm, &interpreter, &blob, &u, !innermost, rule);
}

/* Code that can't be read, after some that could. */
static void unreadable(void)
{
	struct hybrid_rule rule;
	bool saved;

	begin();
	set_method("55 48 83 ec 20", FRAME, 5);
	same(cfa_at(0, &saved), 8);
	blob.code += PAGE;
	blob.end += PAGE;
	same(cfa_at(PAGE, &saved), 0);
	same(cfa_at(PAGE + 10, &saved), 0);
	put(code + PAGE - 1, "ff");
	u.regs.value[JAVA_R13] = SP + 40;
	check(!rule_of(JAVA_BLOB_HANDLES, PAGE, true, &rule));
	check(rule_of(JAVA_BLOB_HANDLES, PAGE - 1, true, &rule));
	check(!rule_of(JAVA_BLOB_ADAPTER, PAGE, true, &rule));
	check(!rule_of(JAVA_BLOB_OTHER, PAGE + 20, false, &rule));
	end();
}

/* It is looked for in 512 bytes, and in 64 where a loop is entered. */
static void far_prologues(void)
{
	unsigned int i, at;
	bool saved;

	begin();
	for (i = 0; i < 2; i++) {
		set_method("", FRAME, 600);
		at = 512 - 5 + i;
		put(code + at, "55 48 83 ec 20");
		same(cfa_at(at, &saved), i ? 0 : 8);
		same(cfa_at(at + 1, &saved), i ? 0 : 16);
		set_method("", FRAME, 0);
		blob.osr_entry = (u64)code + 100;
		at = 100 + 64 - 5 + i;
		put(code + at, "55 48 83 ec 20");
		same(cfa_at(at, &saved), i ? FRAME : 8);
		same(cfa_at(at + 1, &saved), i ? FRAME : 16);
		same(cfa_at(at + 4, &saved), i ? FRAME : 16);
	}
	set_method("", FRAME, 0);
	put(code + 100, "90 55 48 83 ec 20");
	same(cfa_at(100, &saved), FRAME);
	blob.osr_entry = (u64)code + 100;
	same(cfa_at(99, &saved), FRAME);
	same(cfa_at(100, &saved), 8);
	same(cfa_at(101, &saved), 8);
	same(cfa_at(102, &saved), 16);
	same(cfa_at(106, &saved), FRAME);
	/* Where it is said to be entered is not in its code. */
	for (i = 0; i < 2; i++) {
		blob.end = blob.osr_entry - i;
		same(cfa_at(101, &saved), FRAME);
	}
	end();
}

static void pushed_words(void)
{
	static const struct {
		const char	*code;
		unsigned int	 nr;
	} cases[] = {
		{ "90", 0 }, { "58", 1 }, { "5f", 1 }, { "57", 0 }, { "60", 0 }, { "5d", 0 },
		{ "58 5d", 1 }, { "41 58", 1 }, { "41 90", 0 }, { "58 41 5a 90", 2 },
		{ "58 59 5a 5b", 4 }, { "58 59 5a 5b 5e", 4 }, { "41 58 41 59 41 5a 41 5b", 4 },
		{ "42 58", 0 },
	};
	unsigned int i;

	begin();
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		set_method(cases[i].code, FRAME, 0);
		same(java_pushed_words(&vm, (u64)code), cases[i].nr);
	}
	memset(code, 0x58, PAGE);
	same(java_pushed_words(&vm, (u64)code + PAGE - 8), 4);
	same(java_pushed_words(&vm, (u64)code + PAGE - 7), 0);
	end();
}

/* An entry that is those bytes up to where it makes the frame. */
static void set_entry(const char *hex)
{
	unsigned int nr = set_method(hex, 0, 0);

	put(code + nr, "55 48 8b ec 41 55");
	memset(&interpreter, 0, sizeof(interpreter));
	interpreter.nr = 1;
	interpreter.entries[0] = (struct java_method_entry) {
		.start = (u64)code, .end = (u64)code + 600, .enter = (u64)code + nr,
	};
}

/* '-': no rule; 'b': a frame by bp; else by a register: 'r', or 's' with bp saved at sp. */
static char interpreted_at(unsigned int at, unsigned int reg, bool innermost)
{
	struct hybrid_rule rule;

	if (!java_interpreter_rule(&vm, &interpreter, &u, (u64)code + at, innermost, &rule))
		return '-';
	if (rule.kind == HYBRID_RULE_SAVED_SP)
		return 'b';
	same(rule.kind, HYBRID_RULE_CFA);
	same(rule.base, HYBRID_BASE_REG + reg);
	same(rule.cfa_off, 0);
	if (rule.bp == HYBRID_BP_SAME)
		return rule.ra_off == -40 ? 'r' : '?';
	return rule.ra_off == -32 && rule.bp_off == -40 ? 's' : '?';
}

static void expect_entry(int line, const char *hex, const char *want)
{
	char got[64] = "";
	unsigned int at;

	set_entry(hex);
	for (at = 0; at < strlen(want) && at < sizeof(got) - 1; at++)
		got[at] = interpreted_at(at, JAVA_R13, true);
	tap_same_text(got, want, __FILE__, line);
}

#define ENTRY(hex, want) expect_entry(__LINE__, hex, want)

static void entries(void)
{
	begin();
	u.regs.value[JAVA_R13] = SP + 40;
	ENTRY("90 58 90 50", "rr--rsssssbb");
	ENTRY("58 90 50", "r--rsssssb");
	ENTRY("58 50", "r-rsssssb");
	/* The last pop is the one of the return address. */
	ENTRY("58 90 58 50", "rrr-rsssss");
	/* The return address is not moved, or is not back. */
	ENTRY("90 90 90 50", "-----sssss");
	ENTRY("58 90 90 90", "-----sssss");
	ENTRY("", "-sssssb");
	/* No frame is made; and frames that are not the innermost one. */
	set_entry("58 50");
	same(interpreted_at(0, JAVA_R13, false), 'b');
	interpreter.entries[0].enter = 0;
	same(interpreted_at(0, JAVA_R13, true), '-');
	same(interpreted_at(599, JAVA_R13, true), '-');
	same(interpreted_at(600, JAVA_R13, true), 'b');
	interpreter.entries[0].start++;
	same(interpreted_at(0, JAVA_R13, true), 'b');
	/* Code that can't be read, after some that could. */
	set_entry("58 50");
	same(interpreted_at(0, JAVA_R13, true), 'r');
	interpreter.entries[0].start = (u64)code + PAGE;
	interpreter.entries[0].enter = (u64)code + PAGE + 2;
	interpreter.entries[0].end = (u64)code + PAGE + 600;
	same(interpreted_at(PAGE, JAVA_R13, true), '-');
	end();
}

/* As many bytes of an entry as are looked at. */
static void long_entries(void)
{
	unsigned int i, size;

	begin();
	u.regs.value[JAVA_R13] = SP + 40;
	for (i = 0; i < 2; i++) {
		size = 512 + i;
		set_entry("58");
		code[size - 1] = 0x50;
		interpreter.entries[0].enter = (u64)code + size;
		same(interpreted_at(0, JAVA_R13, true), i ? '-' : 'r');
		same(interpreted_at(size, JAVA_R13, true), i ? '-' : 'r');
		same(interpreted_at(size + 1, JAVA_R13, true), 's');
	}
	end();
}

/* The caller's sp is in a register, above this frame and not out of reach. */
static void registers(void)
{
	static const struct {
		u64	above;
		bool	known;
	} cases[] = {
		{ 0, true }, { 8, true }, { 4, false }, { -8ULL, false }, { 0x7ffffff8, true },
		{ 0x80000000, false }, { 1, false },
	};
	struct hybrid_rule rule = {};
	unsigned int i;

	begin();
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		u.regs.value[JAVA_R13] = SP + cases[i].above;
		same(java_rule_by_register(&u, JAVA_R13, 8, HYBRID_BP_SAME, &rule), cases[i].known);
		if (!cases[i].known)
			continue;
		same(rule.ra_off, 8 - (s32)cases[i].above);
		same(rule.bp_off, -(s32)cases[i].above);
	}
	u.regs.value[JAVA_R13] = SP;
	u.regs.known &= ~(1U << JAVA_R13);
	check(!java_rule_by_register(&u, JAVA_R13, 8, HYBRID_BP_SAME, &rule));
	end();
}

/* What the interpreter's frame is at each byte of code that leaves it. */
static void leaving_interpreted(void)
{
	static const struct {
		const char	*code;
		const char	*want;
	} cases[] = {
		/* leave; pop %r13; mov %rbx,%rsp */
		{ "c9 41 5d 48 8b e3", "br--b--b" }, { "c9 41 5d 48 89 dc", "br--b--b" },
		/* leave; pop %rdi; mov %rbx,%rsp */
		{ "c9 5f 48 8b e3", "br--b--b" }, { "c9 5f 48 89 dc", "br--b--b" },
		/* What differs in a byte. */
		{ "c8 41 5d 48 8b e3", "bbbbbbbb" }, { "c9 42 5d 48 8b e3", "bbbbbbbb" },
		{ "c9 41 57 48 8b e3", "bbbbbbbb" }, { "c9 41 5d 49 8b e3", "bbbbbbbb" },
		{ "c9 41 5d 48 8a e3", "bbbbbbbb" }, { "c9 41 5d 48 8b e4", "bbbbbbbb" },
		{ "c9 41 5d 48 89 e3", "bbbbbbbb" }, { "c9 41 5d 48 8b dc", "bbbbbbbb" },
		{ "c9 60 48 8b e3", "bbbbbbbb" },
	};
	char got[16];
	unsigned int i, at;

	begin();
	u.regs.value[RBX] = SP + 40;
	memset(&interpreter, 0, sizeof(interpreter));
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		set_method(cases[i].code, 0, 0);
		memset(got, 0, sizeof(got));
		for (at = 0; at < strlen(cases[i].want); at++)
			got[at] = interpreted_at(at, RBX, true);
		same_text(got, cases[i].want);
	}
	end();
}

static bool range_at(u64 pc, u64 *start, u64 *end)
{
	struct hybrid_runtime_range range = { .start = 0x1000, .end = 0x2000 };
	bool known = java_interpreter_range(&interpreter, pc, &range);

	*start = range.start;
	*end = range.end;
	return known;
}

/* Between two entries, of which the first makes a frame and the second makes none. */
static void ranges(void)
{
	u64 start, end;

	interpreter = (struct java_interpreter) {
		.entries = { { 0x1100, 0x1200, 0x1140 }, { 0x1300, 0x1400, 0 } }, .nr = 2,
	};
	check(range_at(0x1000, &start, &end) && start == 0x1000 && end == 0x1100);
	check(range_at(0x10ff, &start, &end) && end == 0x1100);
	check(!range_at(0x1100, &start, &end));
	check(!range_at(0x1145, &start, &end));
	check(range_at(0x1146, &start, &end) && start == 0x1146 && end == 0x1300);
	check(range_at(0x12ff, &start, &end) && start == 0x1146 && end == 0x1300);
	check(!range_at(0x1300, &start, &end));
	check(!range_at(0x13ff, &start, &end));
	check(range_at(0x1400, &start, &end) && start == 0x1400 && end == 0x2000);
}

/* '-': none; 'r': the return address is at sp; 's': it is, and the caller's sp is in r13. */
static void expect_adapter(int line, const char *hex, const char *want)
{
	struct hybrid_rule rule;
	unsigned int at, nr;
	char got[64] = "";

	nr = set_method(hex, 0, 0);
	blob.end = blob.code + nr;
	for (at = 0; at < strlen(want) && at < sizeof(got) - 1; at++) {
		if (!rule_of(JAVA_BLOB_ADAPTER, at, true, &rule))
			got[at] = '-';
		else
			got[at] = rule.base == HYBRID_BASE_SP && rule.cfa_off == 8 ? 'r' :
				  rule.base == HYBRID_BASE_REG + JAVA_R13 ? 's' : '?';
		check(!rule_of(JAVA_BLOB_ADAPTER, at, false, &rule));
	}
	tap_same_text(got, want, __FILE__, line);
}

#define ADAPTER(hex, want) expect_adapter(__LINE__, hex, want)

static void adapters(void)
{
	begin();
	u.regs.value[JAVA_R13] = SP + 40;
	/* pop %rax; mov %rsp,%r13; sub $32,%rsp; mov %rax,(%rsp) */
	ADAPTER("58 4c 8b ec 48 83 ec 20 48 89 4 24", "r-----------ss");
	ADAPTER("90 58 4c 8b ec 48 81 ec 20 0 0 0 48 89 4 24", "rr--------------s");
	/* lea 8(%rsp),%r13; pop %rax; sub $32,%rsp; push %rax */
	ADAPTER("4c 8d 6c 24 8 58 48 83 ec 20 50 90 90 90", "rrrrrr-----ssss");
	/* What differs in a byte, or ends before it is done. */
	ADAPTER("59 4c 8b ec 48 83 ec 20 48 89 4 24", "------------");
	ADAPTER("58 4c 8b ec 49 83 ec 20 48 89 4 24", "------------");
	ADAPTER("58 4c 8b ec 48 82 ec 20 48 89 4 24", "------------");
	ADAPTER("58 4c 8b ec 48 83 ed 20 48 89 4 24", "------------");
	ADAPTER("58 4c 8b ec 48 83 ec 20 48 89 4", "-----------");
	ADAPTER("4c 8b ec 48 83 ec 20 48 89 4 24", "-----------");
	ADAPTER("4c 8b 58 48 83 ec 20 50 90 90 90", "-----------");
	end();
}

static void kinds(void)
{
	static const struct {
		unsigned int	kind;
		bool		innermost;
		bool		outer;
	} cases[] = {
		{ JAVA_BLOB_METHOD, true, true }, { JAVA_BLOB_STUB, false, true },
		{ JAVA_BLOB_VTABLE, true, false }, { JAVA_BLOB_INTERPRETER, true, true },
		{ JAVA_BLOB_HANDLES, true, false }, { JAVA_BLOB_OTHER, false, false },
	};
	struct hybrid_rule rule;
	unsigned int i, k;

	begin();
	u.regs.value[JAVA_R13] = SP + 40;
	memset(&interpreter, 0, sizeof(interpreter));
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		k = cases[i].kind;
		set_method("", FRAME, 0);
		same(rule_of(k, 40, true, &rule), cases[i].innermost);
		same(rule_of(k, 40, false, &rule), cases[i].outer);
		if (k == JAVA_BLOB_HANDLES || k == JAVA_BLOB_INTERPRETER)
			continue;
		same(java_frame_is_walked(&blob, true), cases[i].innermost);
		same(java_frame_is_walked(&blob, false), cases[i].outer);
		blob.frame_complete = -1;
		if (k == JAVA_BLOB_METHOD)
			check(!java_frame_is_walked(&blob, true) &&
			      java_frame_is_walked(&blob, false));
		blob.frame_size = 8;
		same(java_frame_is_walked(&blob, true), k == JAVA_BLOB_VTABLE);
		check(!java_frame_is_walked(&blob, false));
		blob.frame_size = 16;
		same(java_frame_is_walked(&blob, false), cases[i].outer);
	}
	end();
}

/* pop %rax; pop %rbx: between them, and after them, the return address is in a register. */
static void handles(void)
{
	static const char want[] = "ss--ss";
	struct hybrid_rule rule;
	unsigned int at;

	begin();
	u.regs.value[JAVA_R13] = SP + 40;
	set_method("90 58 5b 50", 0, 0);
	for (at = 0; at < strlen(want); at++)
		same(rule_of(JAVA_BLOB_HANDLES, at, true, &rule), want[at] == 's');
	set_method("90 58 5a 50 90 59 5b", 0, 0);
	for (at = 0; at < 8; at++)
		check(rule_of(JAVA_BLOB_HANDLES, at, true, &rule));
	end();
}

/* The stub's beginning is looked for in 256 bytes before its calls. */
static void entry_barriers(void)
{
	struct java_interpreter none = {};
	struct hybrid_rule rule;

	begin();
	/* It is looked for once: there is none. */
	java_interpreter__read(&none, &vm);
	check(none.is_read && !none.nr);
	set_method("", 0, 0);
	put(code + 8, "ff 55 48 8b ec 57 48 8d 7c 24 18");
	check(!rule_of(JAVA_BLOB_OTHER, 8 + 10, false, &rule));
	check(rule_of(JAVA_BLOB_OTHER, 8 + 11, false, &rule));
	same(rule.base, HYBRID_BASE_BP);
	same(rule.cfa_off, 24);
	check(rule_of(JAVA_BLOB_OTHER, 8 + 256, false, &rule));
	check(!rule_of(JAVA_BLOB_OTHER, 8 + 257, false, &rule));
	check(!rule_of(JAVA_BLOB_OTHER, 8 + 11, true, &rule));
	/* It begins in the blob. */
	blob.code += 9;
	check(!rule_of(JAVA_BLOB_OTHER, 8 + 11, false, &rule));
	end();
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "java rules: a method's frame is left",	leaving },
		{ "java rules: a method's frame is made",	prologues },
		{ "java rules: it is made far from the beginning", far_prologues },
		{ "java rules: code that can't be read",	unreadable },
		{ "java rules: words that are popped",		pushed_words },
		{ "java rules: entries of interpreted methods",	entries },
		{ "java rules: long entries",			long_entries },
		{ "java rules: sp in a register",		registers },
		{ "java rules: the interpreter leaves a frame",	leaving_interpreted },
		{ "java rules: between entries",		ranges },
		{ "java rules: adapters",			adapters },
		{ "java rules: kinds of code",			kinds },
		{ "java rules: calls by method handles",	handles },
		{ "java rules: entry barriers",			entry_barriers },
	};

	return tap_run(tests, ARRAY_SIZE(tests));
}
