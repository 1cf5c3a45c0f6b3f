// SPDX-License-Identifier: GPL-2.0
/*
 * The exact states against a model: patterns of bytes, as the psABI, the C library and compilers
 * have them. Each pattern is tried with every bit of it changed, in both modes, and at all places
 * around the ends of pages, any of which may be missing. And entries of functions, which the look
 * guesses by their alignment. Prints TAP.
 */
#include "look-state.h"

/* How many words the CFA is from sp, 0: from bp; whether bp is on top. */
struct found {
	enum x86_frame_kind	kind;
	int			words;
	bool			bp_on_top;
};

static struct found sp(enum x86_frame_kind kind, int words, bool bp_on_top)
{
	return (struct found) { kind, words, bp_on_top };
}

/* A push of a register that prologues save, and a sub of sp, @from bytes from ip on. */
static bool model_push(const struct place *place, bool is_64bit)
{
	if (is_64bit)
		return ANY(place, "|53", "|55", "|4154", "|4155", "|4156", "|4157");
	return ANY(place, "|53", "|55", "|56", "|57");
}

static int le32(const u8 *p)
{
	return (int)(p[0] | p[1] << 8 | p[2] << 16 | (unsigned int)p[3] << 24);
}

/* sub $N,%rsp: N, and the instruction's length; -1 for none. */
static int model_sub(const struct place *place, unsigned int *len)
{
	const u8 *p = at(place->ip);

	*len = 4;
	if (matches(place, "|4883c480......"))
		return 128;
	if (matches(place, "|4883ec........") && p[3] < 128)
		return p[3];
	*len = 7;
	if (matches(place, "|4881ec........") && le32(p + 3) >= 0)
		return le32(p + 3);
	return -1;
}

/* Go: mov %rbp,N(%rsp), or lea N(%rsp),%rbp, which begins at @place. */
static int model_go_bp(const struct place *place, bool lea, unsigned int *len)
{
	const u8 *p = at(place->ip);

	*len = 5;
	if (matches(place, lea ? "|488d6c24.." : "|48896c24..") && p[4] < 128)
		return p[4];
	*len = 8;
	if (matches(place, lea ? "|488dac24........" : "|4889ac24........") && le32(p + 4) >= 0)
		return le32(p + 4);
	return -1;
}

static struct place moved(const struct place *place, int by)
{
	return (struct place) { place->ip + by, place->before + by, place->after - by };
}

static struct found model_go(const struct place *place)
{
	struct place next;
	unsigned int len, len2;
	int size, top;

	if (place->before >= 10 &&
	    ANY(place, "493b6610|76", "4d3b6610|76", "493b6610|0f86", "4d3b6610|0f86",
		"493b661076..|", "4d3b661076..|", "493b66100f86........|",
		"4d3b66100f86........|"))
		return sp(X86_FRAME_ENTRY, 1, false);
	if (ANY(place, "|493b6610", "|4d3b6610", "|4c8d6424..493b6610", "|4c8d6424..4d3b6610",
		"|4c8da424........493b6610", "|4c8da424........4d3b6610"))
		return sp(X86_FRAME_ENTRY, 1, false);
	size = model_sub(place, &len);
	if (size >= 8) {
		next = moved(place, len);
		if (model_go_bp(&next, false, &len2) == size - 8)
			return sp(X86_FRAME_ENTRY, 1, false);
	}
	top = model_go_bp(place, false, &len);
	if (top >= 0) {
		/* A short form of a large offset, or the other way, is none. */
		next = moved(place, top < 128 ? 5 : 8);
		if (place->after >= len && model_go_bp(&next, true, &len2) == top)
			return sp(X86_FRAME_PROLOGUE, top / 8 + 2, false);
	}
	top = model_go_bp(place, true, &len);
	if (top >= 0 && place->before >= (top < 128 ? 5 : 8)) {
		len = top < 128 ? 5 : 8;
		next = (struct place) { place->ip - len, 0, len };
		if (model_go_bp(&next, false, &len2) == top)
			return sp(X86_FRAME_PROLOGUE, top / 8 + 2, false);
	}
	return sp(X86_FRAME_UNKNOWN, 0, false);
}

static bool model_entry(const struct place *place, bool is_64bit)
{
	struct place after = moved(place, 4);
	unsigned int len;

	if (place->after >= 8 && matches(place, is_64bit ? "|f30f1efa" : "|f30f1efb") &&
	    (model_push(&after, is_64bit) || model_sub(&after, &len) >= 0))
		return true;
	if (is_64bit ? ANY(place, "....|554889e5", "....|55488bec") :
		       ANY(place, "....|5589e5", "....|558bec"))
		return is_64bit ? !ANY(place, "53|", "4154|", "4155|", "4156|", "4157|") :
				  !ANY(place, "53|", "56|", "57|");
	/* Before another instruction than the mov only if endbr shows the entry. */
	if (is_64bit ? ANY(place, "|554889e5", "|55488bec") : ANY(place, "|5589e5", "|558bec"))
		return false;
	return matches(place, is_64bit ? "f30f1efa|55" : "f30f1efb|55");
}

static struct found model_look(const struct place *place, bool is_64bit)
{
	struct found go;

	if (!place->after)
		return sp(X86_FRAME_UNKNOWN, 0, false);
	if (ANY(place, "|c3", "|c2....", "|f2c3", "|f3c3", "|e807000000f390"))
		return sp(X86_FRAME_RET, 1, false);
	if (matches(place, "|c9"))
		return sp(X86_FRAME_EPILOGUE, 0, true);
	if (ANY(place, "|5dc3", "|5dc2....", "|5df2c3", "|5df3c3"))
		return sp(X86_FRAME_EPILOGUE, 2, true);
	if (is_64bit ? ANY(place, "..55|4889e5", "..55|488bec") && !matches(place, "4155|") :
		       ANY(place, "..55|89e5", "..55|8bec"))
		return sp(X86_FRAME_PROLOGUE, 2, true);
	if (model_entry(place, is_64bit))
		return sp(X86_FRAME_ENTRY, 1, false);
	/* push of the object, jmp or bnd jmp to the resolver */
	if (ANY(place, "|ff35........ff25..", "|ff35........f2ff25", "|ffb3........ffa3..",
		"|ffb3........f2ffa3"))
		return sp(X86_FRAME_PLT, 2, false);
	if (ANY(place, "ff35........|ff25..", "ff35........|f2ff25", "ffb3........|ffa3..",
		"ffb3........|f2ffa3"))
		return sp(X86_FRAME_PLT, 3, false);
	go = is_64bit ? model_go(place) : sp(X86_FRAME_UNKNOWN, 0, false);
	if (go.kind)
		return go;
	/* After the system call that ends one, it may begin in the page before. */
	if (model_sigreturn(place->ip) ||
	    (place->before >= 2 && model_in_sigreturn(place->ip)))
		return sp(X86_FRAME_SIGNAL, 0, false);
	return go;
}

static unsigned long nr_looks, nr_known;

/* A look knows 12 bytes before ip, of the same page, and 20 from it. */
static struct place place_of(unsigned long ip)
{
	unsigned int before = ip % PAGE < 12 ? ip % PAGE : 12;

	return (struct place) { ip, readable(ip) ? before : 0, run_of(ip, 1, 20) };
}

static bool check_look(unsigned long ip)
{
	struct place place = place_of(ip);
	struct x86_frame_rule rule, want = { 0 };
	struct found found;
	enum x86_frame_kind kind = x86_frame_look(&mem, ip, &rule);
	int ws = mem.is_64bit ? 8 : 4;

	found = model_look(&place, mem.is_64bit);
	/* At the first byte that can't be read, only the code before it is known. */
	if (!place.after)
		return kind == X86_FRAME_UNKNOWN || kind == X86_FRAME_SIGNAL;
	nr_looks++;
	if (kind != found.kind) {
		printf("# at %#lx (%u before, %u after, missing %u): kind %d, not %d\n", ip,
		       place.before, place.after, missing, kind, found.kind);
		return false;
	}
	if (kind == X86_FRAME_UNKNOWN || kind == X86_FRAME_SIGNAL)
		return true;
	nr_known++;
	want.use_fp = !found.words;
	want.cfa_off = (found.words ?: 2) * ws;
	want.ra_off = -ws;
	want.fp_off = found.bp_on_top ? -want.cfa_off : 0;
	return rule.use_fp == want.use_fp && rule.cfa_off == want.cfa_off &&
	       rule.ra_off == -ws && rule.fp_off == want.fp_off && !rule.fp_lost;
}

/* Bytes around ip, which is at the bar. */
static const char *const examples[] = {
	"9090|c3", "9090|c20800", "9090|f2c3", "9090|f3c3", "9090|c9c3", "9090|5dc3",
	"9090|5dc20800", "9090|5df3c3", "9090|5df2c3", "9090|5d90",
	"9090|e807000000f3900faee8ebf9488d642408c3",
	"9090|554889e5c3", "9090|55488bec5dc3", "53|554889e5", "4154|554889e5", "4157|55488bec",
	"4158|554889e5", "4153|554889e5", "9090|5589e5c3", "9090|558bec", "9053|5589e5",
	"9056|558bec", "9057|5589e5", "f30f1efa|5553", "f30f1efb|5553", "90f30f1efa|55",
	"f30f1efa|554889e5", "9055|4889e55dc3", "9055|488bec", "4155|4889e5", "9055|89e5",
	"9055|8bec", "4155|89e5", "90|f30f1efa554889e5", "|f30f1efa4154", "|f30f1efa415790",
	"|f30f1efb5653", "|f30f1efb57909090", "|f30f1efa4883ec0890909090", "|f30f1efa5390909090",
	"|f30f1efa4881ec0010000090", "|f30f1efa4883c480909090", "|f30f1efa4158909090",
	"|f30f1efa90909090", "|ff3500100000ff25001000000f1f4000", "|ff3500100000f2ff2500100000",
	"ff3500100000|ff25001000000f1f4000", "ff3500100000|f2ff2500100000",
	"|ffb304000000ffa308000000", "ffb304000000|ffa308000000", "|ffb304000000f2ffa308000000",
	"ffb304000000|f2ffa308000000", "|493b661076204883ec18", "|4d3b661076204883ec18",
	"|4c8d64249849 3b6610760190", "|4c8d6424984d3b66107601", "|4c8da42480ffffff4d3b6610760190",
	"|4c8da42480ffffff493b6610760190", "cccccccccccccc493b6610|76204883ec18",
	"cccccccccccccc4d3b6610|0f8600010000", "cccccccccccccc493b66107620|4883ec18",
	"cccccccccccccc4d3b66100f8600010000|4883ec18", "|4883ec1848896c2410488d6c2410",
	"|4881ec800100004889ac2478010000488dac2478010000", "|4883c48048896c2478488d6c2478",
	"|4881ec880000004889ac2480000000", "|4883ec0048896c24f8", "|4883ec0848896c2400",
	"9090|48896c2410488d6c2410", "9090|4889ac2480000000488dac2480000000",
	"48896c2410|488d6c2410", "4889ac2480000000|488dac2480000000", "48896c2418|488d6c2410",
	"9090|48896c2418488d6c2410", "9090|4889ac2410000000488d6c2410", "9090|48c7c00f0000000f05",
	"9090|b80f0000000f05", "48c7c00f0000000f05|90", "b80f0000000f05|90", "90b80e0000000f05|90",
	"9090|58b877000000cd80", "9090|b8ad000000cd80", "58b877000000cd80|90", "9090|90909090",
};

static const u8 fillers[] = { 0x90, 0x00, 0xcc };

/* Writes an example around @ip; returns its bounds, as offsets from ip. */
static void place_example(const char *example, unsigned long ip, int *from, int *to)
{
	const char *p;
	int before = 0, off;

	for (p = example; *p != '|'; p++)
		before += *p != ' ';
	before /= 2;
	off = -before;
	for (p = example; *p; p++) {
		char digits[3] = { p[0], p[1], 0 };

		if (*p == ' ' || *p == '|')
			continue;
		*at(ip + off++) = strtoul(digits, NULL, 16);
		p++;
	}
	*from = -before;
	*to = off;
}

/* Every bit of it changed. */
static bool check_bits(unsigned long ip, int from, int to)
{
	bool ok = check_look(ip);
	int off, bit;

	for (off = from; off < to; off++)
		for (bit = 0; bit < 8; bit++) {
			*at(ip + off) ^= 1 << bit;
			ok &= check_look(ip);
			*at(ip + off) ^= 1 << bit;
		}
	return ok;
}

/* With pages missing, at all places around their ends. */
static bool check_places(const char *example)
{
	unsigned long ip;
	int from, to;
	bool ok = true;

	for (ip = BASE + 2 * PAGE - 21; ip <= BASE + 2 * PAGE + 13; ip++) {
		memset(code, 0x90, sizeof(code));
		place_example(example, ip, &from, &to);
		for (missing = 0; missing < 1 << PAGES; missing++)
			ok &= check_look(ip);
	}
	missing = 0;
	return ok;
}

static void check_looks(bool is_64bit)
{
	unsigned int i, f, hits = 0;
	int from, to;
	bool ok = true;

	mem.is_64bit = is_64bit;
	nr_known = 0;
	for (i = 0; i < ARRAY_SIZE(examples); i++) {
		for (f = 0; f < ARRAY_SIZE(fillers); f++) {
			memset(code, fillers[f], sizeof(code));
			place_example(examples[i], BASE + PAGE + 100, &from, &to);
			ok &= check_bits(BASE + PAGE + 100, from, to);
		}
		ok &= check_places(examples[i]);
		hits += nr_known > hits;
	}
	printf("# %lu looks, of which %lu found a rule\n", nr_looks, nr_known);
	report(ok && nr_known > 5000, is_64bit ? "looks: as the model" : "looks: ... 32-bit");
	mem.is_64bit = true;
}

/* Padding of compilers, or a return, right before ip. */
static bool model_padding(const struct place *place)
{
	return place->before >= 8 &&
	       ANY(place, "c3|", "cc|", "90|", "0f1f8400000000 00|", "0f1f8000000000|",
		   "0f1f440000|", "0f1f4000|", "0f1f00|");
}

static enum x86_frame_kind model_guess(unsigned long ip)
{
	struct place place = place_of(ip);
	const u8 *p = at(ip);

	if (ip % 16 || place.after < 8 || !model_padding(&place))
		return X86_FRAME_UNKNOWN;
	if (matches(&place, mem.is_64bit ? "|f30f1efa" : "|f30f1efb")) {
		/* Landing pads: mov %rax,%reg; a load from a frame. */
		if (p[5] == 0x89 && (p[6] >> 3 & 7) == 0)
			return X86_FRAME_UNKNOWN;
		if (p[5] == 0x8b && (p[6] & 7) == 5 && (p[6] >> 6 == 1 || p[6] >> 6 == 2))
			return X86_FRAME_UNKNOWN;
		return X86_FRAME_ENTRY;
	}
	return model_push(&place, mem.is_64bit) ? X86_FRAME_ENTRY : X86_FRAME_UNKNOWN;
}

static unsigned int nr_guessed;

static bool check_guess(unsigned long ip)
{
	struct x86_frame_rule rule = { 0 };
	enum x86_frame_kind kind = x86_frame_guess_entry(&mem, ip, &rule);

	nr_guessed += kind == X86_FRAME_ENTRY;
	return kind == model_guess(ip) &&
	       (!kind || (rule.cfa_off == (mem.is_64bit ? 8 : 4) && !rule.use_fp && !rule.fp_off));
}

static void check_guesses(void)
{
	static const char *const befores[] = {
		"c3", "cc", "90", "0f1f840000000000", "0f1f8000000000", "0f1f440000", "0f1f4000",
		"0f1f00", "c9",
	};
	static const char *const afters[] = {
		"5331c090", "5531c090", "4154", "4157", "4158", "5631c0", "5731c0",
		"f30f1efa90909090", "f30f1efb90909090", "f30f1efa4889c790", "f30f1efa4889cf90",
		"f30f1efa488b45f8", "f30f1efa488b85f8", "f30f1efa488b05f8", "f30f1efa488bc590",
		"f30f1efa488b46f8",
	};
	char example[64];
	unsigned int b, a, mode;
	int from, to, off, bit;
	unsigned long ip = BASE + PAGE + 0x100, i;
	bool ok = true;

	for (mode = 0; mode < 2; mode++)
		for (b = 0; b < ARRAY_SIZE(befores); b++)
			for (a = 0; a < ARRAY_SIZE(afters); a++) {
				snprintf(example, sizeof(example), "%s|%s", befores[b], afters[a]);
				mem.is_64bit = mode;
				memset(code, 0x11, sizeof(code));
				place_example(example, ip, &from, &to);
				ok &= check_guess(ip);
				for (off = from; off < to; off++)
					for (bit = 0; bit < 8; bit++) {
						*at(ip + off) ^= 1 << bit;
						ok &= check_guess(ip);
						*at(ip + off) ^= 1 << bit;
					}
			}
	for (i = 1; i < 16; i++) {
		memset(code, 0x90, sizeof(code));
		*at(ip + i) = 0x53;
		ok &= check_guess(ip + i);
	}
	/* At the start of a page, and shortly after and before an end. */
	for (i = 0; i < 2 * 16; i += 16)
		for (missing = 0; missing < 1 << PAGES; missing++) {
			memset(code, 0x90, sizeof(code));
			*at(BASE + PAGE + i) = 0x53;
			*at(BASE + 2 * PAGE - 16) = 0x53;
			ok &= check_guess(BASE + PAGE + i) && check_guess(BASE + 2 * PAGE - 16);
		}
	missing = 0;
	printf("# %u guessed\n", nr_guessed);
	report(ok && nr_guessed > 1000, "entries by their alignment: as the model");
}

int main(void)
{
	setvbuf(stdout, NULL, _IONBF, 0);
	check_looks(true);
	check_looks(false);
	check_guesses();
	printf("1..%d\n", nr_tests);
	return !!nr_failed;
}
