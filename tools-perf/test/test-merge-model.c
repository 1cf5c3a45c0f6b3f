// SPDX-License-Identifier: GPL-2.0
/*
 * The merge against a model that knows the whole stack: all small combinations of frames, of what
 * the dump has of them, and of what the kernel's chain says.
 */
#include <string.h>
#include "merge-scene.h"
#include "tap.h"

#define PROGRAM	0x7f4000000000ULL
#define BP	HYBRID_X86_64_BP

/* Words of each frame, with its return address. */
#define WORDS	4
#define MAX	5

/* What a return address leads to. */
enum kind {
	BY_BP,		/* a frame by bp */
	BY_SP,		/* one by sp: bp is that of a caller */
	OUTER,		/* the outermost one */
	MADE,		/* code without a file: nothing can be shown of it */
	NOWHERE,	/* no code */
	NR_KINDS,
};

/**
 * struct model - a stack, and what is to be written of its sample
 * @kinds: of the frames, innermost first; the last one is OUTER
 * @nr: number of @kinds
 * @at_entry: the innermost one has no frame yet: it has one word
 * @want: the user part of the chain
 * @nr_want: number of @want
 * @sure: of @want, those before the mark for a guess
 */
struct model {
	enum kind	kinds[MAX + 1];
	unsigned int	nr;
	bool		at_entry;
	u64		want[MAX + 4];
	unsigned int	nr_want;
	unsigned int	sure;
};

static u64 rets[NR_KINDS], body, entry;

static u64 program_at(const char *label)
{
	return PROGRAM + elf_file_symbol("live.so", label);
}

static void init(void)
{
	static bool is_mapped;

	scene_start(&s, 0);
	if (is_mapped)
		return;
	is_mapped = true;
	elf_file_map(&scene_ps, SCENE_PID, "live.so", PROGRAM);
	rets[BY_BP] = scene_at("bpframe_ret");
	rets[BY_SP] = program_at("among_pointer_ret");
	rets[OUTER] = scene_at("outer_ret");
	rets[MADE] = SCENE_JIT + 200;
	rets[NOWHERE] = 0x1234;
	body = scene_at("bpframe_at");
	entry = scene_at("bpframe_entry");
}

static enum kind kind_of(u64 ret)
{
	unsigned int kind;

	for (kind = 0; kind < NOWHERE && rets[kind] != ret; kind++)
		;
	return kind;
}

/* Where frame @i ends: its return address is the word before that. */
static unsigned int end_of(const struct model *model, unsigned int i)
{
	return model->at_entry ? 1 + i * WORDS : (i + 1) * WORDS;
}

static bool has_bp(const struct model *model, unsigned int i)
{
	return model->kinds[i] == BY_BP && !(model->at_entry && !i);
}

/* The first frame from @i on that has a bp; model->nr - 1: none. */
static unsigned int next_bp(const struct model *model, unsigned int i)
{
	while (i + 1 < model->nr && !has_bp(model, i))
		i++;
	return i;
}

static u64 bp_of(const struct model *model, unsigned int i)
{
	i = next_bp(model, i);
	return i + 1 < model->nr ? SCENE_STACK + (end_of(model, i) - 2) * 8 : 0;
}

/* The stack, and the chain that the kernel finds by bp. */
static void build(const struct model *model)
{
	static const u64 start[] = { KERNEL, IP_1, IP_2, USER };
	unsigned int i;

	init();
	scene_start(&s, model->at_entry ? entry : body);
	if (model->kinds[0] == BY_SP)
		scene_reg(&s, HYBRID_X86_64_IP, rets[BY_SP] - 2);
	scene_reg(&s, BP, bp_of(model, 0));
	chain_start(start, ARRAY_SIZE(start));
	chain_add(s.u.regs.value[HYBRID_X86_64_IP]);
	for (i = 0; i + 1 < model->nr; i++) {
		scene_fill(&s, end_of(model, i) - s.nr - 1, 0xdead);
		if (has_bp(model, i))
			s.stack[s.nr - 1] = bp_of(model, i + 1);
		scene_push(&s, rets[model->kinds[i + 1]]);
		if (has_bp(model, i))
			chain_add(rets[model->kinds[i + 1]]);
	}
}

/* Where the kernel's chain, its frames beginning at @at, leaves the dump at frame @frame. */
static unsigned int leave(const struct model *model, const u64 *ips, unsigned int nr_ips,
			  unsigned int words, unsigned int at, unsigned int *frame)
{
	unsigned int i;

	for (i = next_bp(model, 0); i + 1 < model->nr; i = next_bp(model, i + 1)) {
		*frame = i;
		if (end_of(model, i) > words)
			return end_of(model, i) - 2 >= words && at < nr_ips ? at : 0;
		if (at >= nr_ips || ips[at] != rets[model->kinds[i + 1]])
			return 0;
		at++;
	}
	return 0;
}

static unsigned int join(const struct model *model, const u64 *ips, unsigned int nr_ips,
			 unsigned int words, unsigned int *frame)
{
	unsigned int plain = leave(model, ips, nr_ips, words, 1, frame), probed = 0, probed_frame;

	if (m.at_probe && nr_ips > 1 && words && ips[1] == s.stack[0])
		probed = leave(model, ips, nr_ips, words, 2, &probed_frame);
	if (probed)
		*frame = probed_frame;
	return plain && probed ? 0 : plain + probed;
}

static void want(struct model *model, u64 ip, bool sure)
{
	if (!sure && model->sure == model->nr_want)
		model->want[model->nr_want++] = GUESSED;
	else
		model->sure += sure;
	model->want[model->nr_want++] = ip;
}

/* What is to be written of a sample with so many words of the stack. */
static enum hybrid_outcome expect(struct model *model, unsigned int words)
{
	const u64 *ips = chain + 4;
	unsigned int nr_ips = nr_chain - 4, i, at, frame = 0;
	bool sure = true;

	model->nr_want = 0;
	model->sure = 0;
	want(model, s.u.regs.value[HYBRID_X86_64_IP], true);
	for (i = 0; i + 1 < model->nr && end_of(model, i) <= words; i++)
		want(model, rets[model->kinds[i + 1]] - 1, true);
	if (i + 1 == model->nr)
		return HYBRID_COMPLETE;
	at = join(model, ips, nr_ips, words, &frame);
	if (at && frame == i) {
		for (; at < nr_ips; at++) {
			enum kind kind = kind_of(ips[at]);

			if (kind == NOWHERE)
				break;
			sure = sure && kind != MADE;
			want(model, ips[at] - 1, sure);
			if (kind == OUTER)
				return HYBRID_STITCHED;
			if (kind == BY_SP)
				break;
		}
	}
	model->want[model->nr_want++] = CUT_OFF;
	return words ? HYBRID_TRUNCATED : HYBRID_FP_ONLY;
}

static void compare(struct model *model, unsigned int words)
{
	enum hybrid_outcome outcome = expect(model, words);
	unsigned int i;

	s.u.dump_size = words * 8;
	same(merge(), outcome);
	same(m.nr, 4 + model->nr_want);
	for (i = 0; i < model->nr_want && 4 + i < m.nr; i++)
		same(out[4 + i], model->want[i]);
	same(m.marked, outcome > HYBRID_GUESSED || model->sure < model->nr_want);
}

/* Each size of the dump, each end of the kernel's chain, and each entry of it another one. */
static void compare_all(struct model *model)
{
	unsigned int words, nr, i, kind, nr_words = s.nr, nr_all = nr_chain;
	u64 right;

	for (words = 0; words <= nr_words; words++) {
		for (nr = 5; nr <= nr_all; nr++) {
			nr_chain = nr;
			compare(model, words);
		}
		for (i = 5; i < nr_all; i++) {
			right = chain[i];
			for (kind = 0; kind < NR_KINDS; kind++) {
				chain[i] = rets[kind];
				compare(model, words);
			}
			chain[i] = right;
		}
	}
}

/* The frames of stack number @n of those with @nr frames before the outermost one. */
static void set_kinds(struct model *model, unsigned int nr, unsigned int n)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		model->kinds[i] = n >> i & 1 ? BY_SP : BY_BP;
	model->kinds[nr] = OUTER;
	model->nr = nr + 1;
}

static void all_stacks(void)
{
	struct model model = {};
	unsigned int nr, n;

	for (nr = 1; nr <= MAX; nr++) {
		for (n = 0; n < 1U << nr; n++) {
			set_kinds(&model, nr, n);
			build(&model);
			compare_all(&model);
		}
	}
	merge_finish();
}

/* At a function's entry, with and without the caller that the kernel takes from sp. */
static void at_entry(void)
{
	struct model model = { .at_entry = true };
	unsigned int nr, n, extra;

	for (nr = 2; nr < MAX; nr++) {
		for (n = 0; n < 1U << nr; n += 2) {
			set_kinds(&model, nr, n);
			for (extra = 0; extra < 4; extra++) {
				build(&model);
				m.at_probe = extra & 1;
				if (extra & 2) {
					memmove(&chain[6], &chain[5], (nr_chain - 5) * 8);
					chain[5] = rets[model.kinds[1]];
					nr_chain++;
				}
				compare_all(&model);
			}
		}
	}
	merge_finish();
}

/* Are the frames, without marks, the first ones of @model? Returns how many. */
static unsigned int count_true(const struct model *model, unsigned int *marks)
{
	unsigned int i, nr = 0;

	*marks = 0;
	for (i = 4; i < m.nr; i++) {
		if (out[i] == CUT_OFF || out[i] == GUESSED) {
			++*marks;
			continue;
		}
		if (nr)
			same(out[i], rets[model->kinds[nr]] - 1);
		nr++;
	}
	return nr;
}

/* What the thread was seen to be in goes on with each, behind a mark; and no other frame. */
static void learned(void)
{
	unsigned int nr, n, words, marks, i, stitched = 0;
	struct model model = {};
	enum hybrid_outcome outcome;

	for (nr = 2; nr < MAX; nr++) {
		for (n = 0; n < 1U << nr; n++) {
			set_kinds(&model, nr, n);
			build(&model);
			nr_chain = 4;
			m.tail = &tail;
			same(merge(), HYBRID_COMPLETE);
			s.u.dump_size = WORDS * 8;
			merge();
			s.u.dump_size = s.nr * 8;
			for (i = 0; i < 64; i++)
				same(merge(), HYBRID_COMPLETE);
			for (words = 0; words < s.nr; words++) {
				s.u.dump_size = words * 8;
				outcome = merge();
				i = count_true(&model, &marks);
				/* How a thread began needs none. */
				same(marks, outcome > HYBRID_GUESSED || s.u.sure < s.u.nr);
				if (outcome == HYBRID_STITCHED) {
					same(i, nr + 1);
					check(out[m.nr - 1] != CUT_OFF);
					stitched++;
				} else {
					same(outcome, words ? HYBRID_TRUNCATED : HYBRID_FP_ONLY);
					same(out[m.nr - 1], CUT_OFF);
					check(i <= nr);
				}
			}
			merge_finish();
		}
	}
	check(stitched > 100);
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "merge model: all small stacks, dumps and chains", all_stacks },
		{ "merge model: at a function's entry", at_entry },
		{ "merge model: what the thread was seen to be in", learned },
	};
	int status = tap_run(tests, ARRAY_SIZE(tests));

	scene_exit();
	return status;
}
