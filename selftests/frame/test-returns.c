// SPDX-License-Identifier: GPL-2.0
/*
 * Return addresses against a model: calls before them, compared with the kernel's decoder for all
 * operands, and signal trampolines, with every bit of them changed and at the ends of what can be
 * read. Prints TAP.
 */
#include "look-state.h"

/* Of a read that fails, the model knows no more than the walk: pages that are missing. */
static void check_fetch(void)
{
	unsigned int len, got, i;
	unsigned long addr;
	u8 dst[64];
	bool ok = true;

	for (i = 0; i < sizeof(code); i++)
		code[i] = i * 7 >> 2;
	for (missing = 0; missing < 1 << PAGES; missing++)
		for (addr = BASE + PAGE - 70; addr <= BASE + PAGE + 2; addr++)
			for (len = 1; len <= 64; len++) {
				memset(dst, 0xaa, sizeof(dst));
				got = x86_frame_fetch(&mem, addr, dst, len);
				ok &= got == run_of(addr, 1, len) && !memcmp(dst, at(addr), got);
				for (i = got; i < sizeof(dst); i++)
					ok &= dst[i] == 0xaa;
			}
	missing = 0;
	report(ok, "fetch: up to the first byte that can't be read");
}

/* Does a call of @len bytes end at @end, by the kernel's decoder? */
static bool decoder_call(const u8 *end, unsigned int len)
{
	struct insn insn;

	if (insn_decode(&insn, end - len, len, INSN_MODE_64) || insn.length != len ||
	    insn.prefixes.nbytes || insn.rex_prefix.nbytes)
		return false;
	return insn.opcode.bytes[0] == 0xe8 ||
	       (insn.opcode.bytes[0] == 0xff && X86_MODRM_REG(insn.modrm.bytes[0]) == 2);
}

static bool model_call(const u8 *end, unsigned int known)
{
	unsigned int len;

	for (len = 2; len <= 7 && len <= known; len++)
		if (decoder_call(end, len))
			return true;
	return false;
}

/* An instruction of this opcode, ModRM and SIB bytes at all distances; how many are calls. */
static unsigned int check_call(u8 op, u8 modrm, u8 sib, u8 fill, bool *ok)
{
	unsigned long ra = BASE + PAGE + 100;
	unsigned int len, nr = 0;
	bool want;

	for (len = 1; len <= 8; len++) {
		memset(at(ra - 16), fill, 32);
		*at(ra - len) = op;
		if (len > 1)
			*at(ra - len + 1) = modrm;
		if (len > 2)
			*at(ra - len + 2) = sib;
		want = model_call(at(ra), 7);
		nr += want;
		*ok &= x86_frame_call_before(&mem, ra) == want;
	}
	return nr;
}

/* All ModRM and SIB bytes, at all distances from the return address, and jumps beside them. */
static void check_calls(void)
{
	unsigned int modrm, sib, len, fill, nr = 0;
	static const u8 ops[] = { 0xff, 0xe8, 0xe9, 0xfe };
	bool ok = true, want;
	unsigned long ra;
	unsigned int op;

	for (fill = 0; fill < 2; fill++)
		for (op = 0; op < ARRAY_SIZE(ops); op++)
			for (modrm = 0; modrm < 256; modrm++)
				for (sib = 0; sib < 256; sib += op ? 85 : 1)
					nr += check_call(ops[op], modrm, sib, fill ? 0x11 : 0x90,
							 &ok);
	printf("# %u calls\n", nr);
	report(ok && nr > 1000, "calls: as the kernel's decoder has them");

	/* At the start of a page, the one before which is missing. */
	for (len = 0, ok = true; len <= 8; len++)
		for (modrm = 0; modrm < 256; modrm++)
			for (fill = 1; fill <= 8; fill++)
				for (missing = 0; missing < 1 << PAGES; missing++) {
					ra = BASE + PAGE + len;
					memset(at(ra - 16), 0x90, 32);
					*at(ra - fill) = modrm & 1 ? 0xff : 0xe8;
					*at(ra - fill + 1) = modrm;
					want = model_call(at(ra), run_of(ra, -1, 7));
					ok &= x86_frame_call_before(&mem, ra) == want;
				}
	missing = 0;
	report(ok, "calls: at the start of what can be read");
}

static bool check_sigreturn(unsigned long ip)
{
	struct x86_frame_rule rule;
	enum x86_frame_sigreturn in = x86_frame_in_sigreturn(&mem, ip);
	enum x86_frame_sigreturn want = model_in_sigreturn(ip);
	bool ok = x86_frame_sigreturn(&mem, ip) == model_sigreturn(ip);

	/* Of a page that is missing more may be unknown, but nothing is wrong. */
	ok &= in == want || (in == X86_SIGRETURN_NONE && missing);
	/* A look finds the same, but for a system call that ends with a page. */
	if (!missing && (ip % PAGE >= 2 || model_sigreturn(ip)))
		ok &= (x86_frame_look(&mem, ip, &rule) == X86_FRAME_SIGNAL) == !!want;
	return ok;
}

static void check_sigreturns(void)
{
	unsigned int i, mode, off, bit;
	unsigned long ip, start;
	bool ok = true;

	for (i = 0; i < ARRAY_SIZE(trampolines); i++)
		for (mode = 0; mode < 2; mode++) {
			mem.is_64bit = mode;
			memset(code, 0x90, sizeof(code));
			start = BASE + PAGE + 200;
			memcpy(at(start), trampolines[i].bytes, trampolines[i].len);
			for (ip = start - 1; ip <= start + 10; ip++)
				ok &= check_sigreturn(ip);
			for (off = 0; off < trampolines[i].len; off++)
				for (bit = 0; bit < 8; bit++) {
					*at(start + off) ^= 1 << bit;
					ok &= check_sigreturn(start);
					ok &= check_sigreturn(start + trampolines[i].len);
					*at(start + off) ^= 1 << bit;
				}
		}
	report(ok, "trampolines: each bit of them counts");
	for (i = 0, ok = true; i < ARRAY_SIZE(trampolines); i++) {
		mem.is_64bit = trampolines[i].is_64bit;
		for (start = BASE + 2 * PAGE - 19; start <= BASE + 2 * PAGE + 1; start++) {
			memset(code, 0x90, sizeof(code));
			memcpy(at(start), trampolines[i].bytes, trampolines[i].len);
			for (missing = 0; missing < 1 << PAGES; missing++)
				for (ip = start; ip <= start + trampolines[i].len;
				     ip += trampolines[i].len)
					ok &= check_sigreturn(ip);
		}
	}
	missing = 0;
	report(ok, "trampolines: at the ends of pages");
	/* In the page's first bytes, with the page before missing: it is all there. */
	for (i = 0, ok = true; i < 2; i++) {
		mem.is_64bit = true;
		memset(code, 0x90, sizeof(code));
		start = BASE + PAGE;
		memcpy(at(start), trampolines[i].bytes, trampolines[i].len);
		missing = 1;
		for (off = 0; off < 2; off++)
			ok &= x86_frame_in_sigreturn(&mem, start + off * trampolines[i].len) ==
			      X86_SIGRETURN_64;
		missing = 0;
	}
	report(ok, "trampolines: at the start of what can be read");
}

int main(void)
{
	setvbuf(stdout, NULL, _IONBF, 0);
	check_fetch();
	check_calls();
	check_sigreturns();
	printf("1..%d\n", nr_tests);
	return !!nr_failed;
}
