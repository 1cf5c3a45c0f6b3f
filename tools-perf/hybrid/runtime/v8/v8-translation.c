// SPDX-License-Identifier: GPL-2.0
/*
 * V8's descriptions of frames: an opcode, which is a byte, and its operands, in base-128.
 */
#include <string.h>
#include <linux/kernel.h>
#include "v8-translation.h"

/* Kinds of opcodes, see struct v8_opcodes. */
#define OP_FUNCTION	'f'	/* a frame of a function: place in bytecode, SharedFunctionInfo */
#define OP_BUILTIN	'j'	/* a frame of a builtin: its number, SharedFunctionInfo */
#define OP_FRAME	'o'	/* another frame */
#define OP_BEGIN	'b'	/* a description begins */
#define OP_MATCH	'm'	/* some of the next opcodes are those of an earlier description */

#define MAX_OPERANDS	6
#define MAX_FRAMES	1024

/**
 * struct v8_opcodes - the opcodes of V8, src/deoptimizer/translation-opcode.h
 * @version: the first version that is known to have them
 * @count_at: which operand of OP_BEGIN is the number of frames; the next one is the number of
 *	those that are of functions
 * @is_number: opcodes are written as operands are, with a sign
 * @list: two characters for each opcode: its kind, where '.' is a value that the frame has, and
 *	the number of its operands
 */
struct v8_opcodes {
	u32		 version;
	unsigned int	 count_at;
	bool		 is_number;
	const char	*list;
};

/* The newest version first. */
static const struct v8_opcodes all_opcodes[] = {
	{ 13 << 8, 1, false,
	"f6f4j3j3o2o1o3o4o3o3o2.1.0.0b3b3.1.1.1.0.1.1.1.1.1.1.1.1.1.1.1.1.1.1.1.1.1.0.1.1.1.1.1.2m1"
	},
	{ 12 << 8, 1, false,
	  "f5f3j3j3o2o1o3o4o3o2.1.0b3b3.1.1.1.1.1.1.1.1.1.1.1.1.1.1.1.1.1.1.0.1.1.1.1.1.2m1" },
	{ 11 << 8, 1, false,
	  ".1.0b3b3.1.1o3.1o3.1.1.1.1.1o2.1.1.1.1.1.1.1.1f5f3j3j3o4.0.1.1.1.1.1.2m1" },
	{ 10 << 8, 0, true, "o2.1.0b3.1.1o3.1o3.1.1.1.1.1.1.1.1.1f5j3j3o4.1.1.1.1.1.2" },
};

/**
 * struct reader - reads descriptions, as V8's DeoptimizationFrameTranslation::Iterator does
 * @t: that it reads
 * @nr: number of opcodes
 * @at: index of the next byte
 * @earlier: the same in the earlier description
 * @left: of the opcodes that are read at @earlier, the one at hand included
 * @since: opcodes that @earlier has to skip before one is read there
 * @is_bad: it is no description
 */
struct reader {
	const struct v8_translation	*t;
	unsigned int			 nr;
	u32				 at;
	u32				 earlier;
	u32				 left;
	u32				 since;
	bool				 is_bad;
};

static void begin_reader(struct reader *r, const struct v8_translation *t, u32 at)
{
	*r = (struct reader) { .t = t, .nr = strlen(t->opcodes->list) / 2, .at = at };
}

static char kind_of(const struct reader *r, unsigned int op)
{
	return r->t->opcodes->list[2 * op];
}

static unsigned int operands_of(const struct reader *r, unsigned int op)
{
	return r->t->opcodes->list[2 * op + 1] - '0';
}

static u8 read_byte(struct reader *r, u32 *at)
{
	if (*at >= r->t->size) {
		r->is_bad = true;
		return 0;
	}
	return r->t->bytes[(*at)++];
}

/* src/base/vlq.h: seven bits a byte, the lowest first. */
static u32 read_number(struct reader *r, u32 *at)
{
	unsigned int shift = 0;
	u32 number = 0;
	u8 byte;

	do {
		byte = read_byte(r, at);
		if (shift < 32)
			number |= (u32)(byte & 0x7f) << shift;
		shift += 7;
		r->is_bad |= shift > 35;
	} while ((byte & 0x80) && !r->is_bad);
	return number;
}

/* The lowest bit is the sign. */
static s32 to_signed(u32 number)
{
	return number & 1 ? -(s32)(number >> 1) : (s32)(number >> 1);
}

/* An opcode of an earlier description, which refers to no other one. */
static unsigned int read_earlier(struct reader *r)
{
	unsigned int op = read_byte(r, &r->earlier);

	if (op >= r->nr || kind_of(r, op) == OP_MATCH || r->earlier > r->at) {
		r->is_bad = true;
		return 0;
	}
	return op;
}

static unsigned int begin_match(struct reader *r)
{
	unsigned int i, op;

	for (; r->since && !r->is_bad; r->since--) {
		op = read_earlier(r);
		for (i = 0; i < operands_of(r, op) && !r->is_bad; i++)
			read_number(r, &r->earlier);
	}
	r->is_bad |= !r->left;
	return r->is_bad ? 0 : read_earlier(r);
}

/* The next opcode; the caller reads its operands. */
static unsigned int read_opcode(struct reader *r)
{
	u32 start = r->at;
	unsigned int op;

	if (r->left && --r->left)
		return read_earlier(r);
	op = read_byte(r, &r->at);
	if (r->t->opcodes->is_number) {
		r->is_bad |= op & 1;
		op /= 2;
	}
	/* A number that is no opcode stands for OP_MATCH with an operand, in versions with that. */
	if (op >= r->nr) {
		r->left = op - r->nr;
		r->is_bad |= kind_of(r, r->nr - 1) != OP_MATCH;
		return begin_match(r);
	}
	if (kind_of(r, op) == OP_MATCH) {
		r->left = read_number(r, &r->at);
		return begin_match(r);
	}
	r->since++;
	if (kind_of(r, op) == OP_BEGIN) {
		r->since = 1;
		r->earlier = start;
	}
	return op;
}

static void read_operands(struct reader *r, unsigned int op, u32 *operands)
{
	unsigned int i;

	for (i = 0; i < operands_of(r, op) && !r->is_bad; i++)
		operands[i] = read_number(r, r->left ? &r->earlier : &r->at);
}

/* How many frames the description says it has. */
static void read_begin(struct reader *r, const u32 *operands, u32 *nr, u32 *nr_functions)
{
	unsigned int at = r->t->opcodes->count_at;

	*nr = to_signed(operands[at]);
	*nr_functions = to_signed(operands[at + 1]);
	r->is_bad |= !*nr || *nr > MAX_FRAMES || *nr_functions > *nr;
	/* The first operand is how far before this one the earlier description begins. */
	if (at) {
		r->is_bad |= operands[0] > r->earlier;
		r->earlier -= operands[0];
	}
}

/* All descriptions can be read, and each has the frames that it says. */
static bool is_readable(const struct v8_translation *t)
{
	u32 nr = 0, nr_functions = 0, operands[MAX_OPERANDS] = {};
	bool has_begun = false;
	struct reader r;
	unsigned int op;
	char kind;

	begin_reader(&r, t, 0);
	while (!r.is_bad && (r.at < t->size || r.left > 1)) {
		op = read_opcode(&r);
		kind = kind_of(&r, op);
		read_operands(&r, op, operands);
		has_begun |= kind == OP_BEGIN;
		r.is_bad |= !has_begun;
		if (kind == OP_BEGIN) {
			r.is_bad |= nr || nr_functions;
			read_begin(&r, operands, &nr, &nr_functions);
		} else if (kind != '.') {
			r.is_bad |= !nr || (kind != OP_FRAME && !nr_functions);
			nr--;
			nr_functions -= kind != OP_FRAME;
		}
	}
	return !r.is_bad && t->size && !nr && !nr_functions;
}

bool v8_translation__choose(struct v8_translation *t, u32 version)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(all_opcodes); i++) {
		t->opcodes = &all_opcodes[i];
		if (all_opcodes[i].version <= version && is_readable(t))
			return true;
	}
	while (i--) {
		t->opcodes = &all_opcodes[i];
		if (all_opcodes[i].version > version && is_readable(t))
			return true;
	}
	return false;
}

unsigned int v8_translation__frames(const struct v8_translation *t, u32 at,
				    struct v8_translated *frames, unsigned int max)
{
	u32 left, functions, operands[MAX_OPERANDS] = {};
	unsigned int op, nr = 0;
	struct reader r;
	char kind;

	begin_reader(&r, t, at);
	op = read_opcode(&r);
	read_operands(&r, op, operands);
	if (r.is_bad || kind_of(&r, op) != OP_BEGIN)
		return 0;
	read_begin(&r, operands, &left, &functions);
	while (left && !r.is_bad) {
		op = read_opcode(&r);
		kind = kind_of(&r, op);
		read_operands(&r, op, operands);
		if (kind == OP_BEGIN)
			return 0;
		if (kind == '.')
			continue;
		left--;
		if (kind == OP_FRAME)
			continue;
		if (nr == max)
			return 0;
		frames[nr].literal = to_signed(operands[1]);
		frames[nr++].bytecode = kind == OP_FUNCTION ? to_signed(operands[0]) :
							      V8_NO_BYTECODE;
	}
	return r.is_bad || nr != functions ? 0 : nr;
}
