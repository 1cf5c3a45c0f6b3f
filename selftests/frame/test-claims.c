// SPDX-License-Identifier: GPL-2.0
/*
 * Steps of a path against a machine that executes the same instructions: whatever a path claims
 * of sp, of bp and of a copy of sp has to be so there, in random code. Prints TAP.
 */
#include "../../kmod/frame/x86_frame_step.c"

#include "report.h"
#include "step-machine.h"

/* What a path claims, whether it is so, and how often it claimed that. */
static unsigned long claims[8];

static bool value_is(int base, s64 words, int from, u64 value)
{
	u64 sp = m.first[X86_REG_SP], bp = m.first[X86_REG_BP], start;

	switch (base) {
	case X86_BASE_SP:
		start = sp;
		break;
	case X86_BASE_BP:
		start = bp;
		break;
	case X86_BASE_MEM_SP:
		start = first_word(mask(sp + from * ws()));
		break;
	case X86_BASE_MEM_BP:
		start = first_word(mask(bp + from * ws()));
		break;
	case X86_BASE_REG:
		start = m.first[from];
		break;
	default:
		return true;
	}
	return value == mask(start + words * ws());
}

/* Was a word of the caller's frame overwritten? Then a path may be wrong: that is known. */
static bool is_dirty(int base, int from)
{
	u64 at = mask(m.first[base == X86_BASE_MEM_SP || base == X86_BASE_SP ? X86_REG_SP :
			      X86_REG_BP] + from * ws());
	bool bp;

	return written(at, &bp);
}

static bool claims_hold(const struct x86_path *path)
{
	bool ok = true;

	claims[path->sp_base]++;
	if (path->sp_base == X86_BASE_REG ? !m.is_set[path->from] :
	    path->sp_base < X86_BASE_MEM_SP || !is_dirty(path->sp_base, path->from))
		ok &= value_is(path->sp_base, path->sp, path->from, m.reg[X86_REG_SP]);
	if (path->bp_kind == X86_BP_SAME)
		ok &= m.reg[X86_REG_BP] == m.first[X86_REG_BP];
	if (path->bp_kind == X86_BP_VALUE && path->bp_base < X86_BASE_NONE)
		ok &= value_is(path->bp_base, path->bp, 0, m.reg[X86_REG_BP]);
	if (path->bp_kind == X86_BP_LOADED && path->bp_base < X86_BASE_NONE &&
	    !is_dirty(path->bp_base, path->bp)) {
		claims[6]++;
		ok &= value_is(path->bp_base + X86_BASE_MEM_SP, 0, path->bp, m.reg[X86_REG_BP]);
	}
	if (path->kept == X86_KEPT_SP) {
		claims[7]++;
		ok &= value_is(X86_BASE_SP, path->kept_sp, 0, m.reg[path->kept_reg]);
	}
	return ok;
}

static void start_machine(bool is_64bit)
{
	int reg;

	m = (struct machine) { .is_64bit = is_64bit };
	for (reg = 0; reg < 16; reg++)
		m.first[reg] = mask(0x7ff0000000001000ULL + reg * 0x10000000ULL);
	m.first[X86_REG_SP] = mask(0x7fff000000100000ULL);
	/* Far away: a path takes words that count from bp for others than those from sp. */
	m.first[X86_REG_BP] = mask(m.first[X86_REG_SP] + (1 << 20));
	memcpy(m.reg, m.first, sizeof(m.reg));
}

static bool decode_text(struct x86_code *code)
{
	struct insn insn;

	return x86_frame_decode(&insn, text.bytes, sizeof(text.bytes), m.is_64bit, code) &&
	       code->len == text.len;
}

/* Some twelve instructions; the path that ends is followed no further. */
static bool check_code(bool is_64bit)
{
	struct x86_path path = { .pc = 0 };
	struct x86_code code;
	unsigned int i;
	s32 target;

	start_machine(is_64bit);
	for (i = 0; i < 12; i++) {
		make_insn();
		if (!decode_text(&code))
			return false;
		/* Only the exit of a function that realigned its stack does this. */
		if (code.op == 0x8d && x86_modrm_reg(&code) == X86_REG_SP)
			if (x86_mem_base(&code) == (is_64bit ? 10 : 1) || x86_mem_base(&code) == 13)
				return true;
		if (x86_frame_step(&code, &path, &target) != X86_STEP_NEXT)
			return false;
		if (!claims_hold(&path)) {
			printf("# sp base %d%+d from %d, bp kind %d base %d%+d,", path.sp_base,
			       path.sp, path.from, path.bp_kind, path.bp_base, path.bp);
			printf(" %02x %02x %02x %02x\n", text.bytes[0], text.bytes[1],
			       text.bytes[2], text.bytes[3]);
			return false;
		}
	}
	return true;
}

static void check_random(unsigned int nr)
{
	unsigned int i, wrong = 0;
	bool ok = true;

	for (i = 0; i < nr; i++) {
		seed = i;
		if (!check_code(i & 1) && wrong++ < 20)
			printf("# seed %u\n", i);
	}
	for (i = 0; i < ARRAY_SIZE(claims); i++)
		printf("# %lu claims of kind %u\n", claims[i], i);
	for (i = 0; i < ARRAY_SIZE(claims); i++)
		ok &= claims[i] > nr / 1000;
	report(!wrong && ok, "random code: a path claims nothing that is not so");
}

int main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IONBF, 0);
	check_random(argc > 1 ? atoi(argv[1]) : 200000);
	printf("1..%d\n", nr_tests);
	return !!nr_failed;
}
