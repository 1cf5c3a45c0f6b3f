// SPDX-License-Identifier: GPL-2.0
#include <string.h>
#include "own-memory.h"
#include "v8-code-world.h"

const u8 v8_two[V8_TWO] = {
	12, 0, 4, 4, 1, 6, 0, 0, 35, 2, 1, 20, 2, 0, 32,
	12, 15, 4, 4, 42, 1, 24, 4, 0, 32,
};

const u8 v8_table[V8_TABLE] = { 2, 0, 0, 0, 0x91, 0, 0, 0, 16, 2, 105, 69, 3, 109 };

const struct v8_exits v8_exits = { .start = 100, .nr_eager = 1, .nr = 3 };

const u8 v8_loop[V8_LOOP] = {
	0x49, 0x3b, 0x65, 0x20, 0x0f, 0x86, 54, 0, 0, 0, 0x48, 0xff, 0xc0, 0x48, 0x39, 0xc8,
	0x7c, 0xee, 0x0f, 0x85, 76, 0, 0, 0, 0xc3, 0xcc, 0xcc,
	[64] = 0xe8, 0, 0, 0, 0, 0xe9, 0xc0, 0xff, 0xff, 0xff,
};

const struct v8_layout v8_code_layout = {
	.version = 12 << 8 | 4, .type_shared = SHARED, .type_code = CODE, .type_stream = STREAM,
	.map_instance_type = 12, .function_shared = 24, .shared_data = 8,
	.array_length = 8, .array_data = 16,
	.code_kind_baseline = BASELINE, .code_deopt = 16, .code_flags = 48, .code_size = 56,
	.stream_start = 32, .deopt_literals = 2, .deopt_inlining = 7,
};

union v8_code_memory v8_code_memory __aligned(4096);

static u64 maps[512][2];

void v8_set_type(u64 *object, u16 type)
{
	maps[type][1] = (u64)type << 32;
	object[0] = TAG(maps[type]);
}

static void set_deopt(void)
{
	u64 *words = v8_world->deopt + 2;
	unsigned int i;

	v8_set_type(v8_world->deopt, ARRAY);
	v8_world->deopt[1] = SMI(11 + 3 * 3);
	words[0] = TAG(v8_world->translation);
	words[2] = TAG(v8_world->literals);
	words[6] = TAG(v8_world->shared[0]);
	words[8] = SMI(v8_exits.start);
	words[9] = SMI(v8_exits.nr_eager);
	words[10] = SMI(v8_exits.nr - v8_exits.nr_eager);
	/* The exit 2 has the second description. */
	for (i = 0; i < v8_exits.nr; i++)
		words[11 + 3 * i + 1] = SMI(i == 2 ? SECOND : 0);
	v8_set_type(v8_world->translation, BYTES);
	v8_world->translation[1] = SMI(V8_TWO);
	memcpy(v8_world->translation + 2, v8_two, V8_TWO);
	v8_set_type(v8_world->literals, ARRAY);
	v8_world->literals[1] = SMI(3);
	for (i = 0; i < 3; i++) {
		v8_set_type(v8_world->shared[i], SHARED);
		v8_world->literals[2 + i] = TAG(v8_world->shared[i]);
	}
	/* One that may be collected. */
	v8_world->literals[3] |= 2;
}

void v8_set_world(unsigned int kind)
{
	u32 sizes[2] = { V8_LOOP, sizeof(v8_world->table) };
	u8 *code = (u8 *)v8_world->code;

	hybrid_memory_forget(own.memory);
	memset(&v8_code_memory, 0, sizeof(v8_code_memory));
	v8_set_type(v8_world->stream, STREAM);
	v8_world->stream[1] = TAG(v8_world->code);
	memcpy(v8_world->instructions, v8_loop, V8_LOOP);
	memcpy(v8_world->table, v8_table, V8_TABLE);
	v8_set_type(v8_world->code, CODE);
	v8_world->code[v8_code_layout.code_deopt / sizeof(u64)] = TAG(v8_world->deopt);
	memcpy(code + v8_code_layout.code_flags, &kind, sizeof(kind));
	memcpy(code + v8_code_layout.code_size, sizes, sizeof(sizes));
	set_deopt();
}
