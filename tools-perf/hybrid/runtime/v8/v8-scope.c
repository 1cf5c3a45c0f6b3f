// SPDX-License-Identifier: GPL-2.0
/*
 * What V8 has of a function besides its code: src/objects/scope-info.tq. BPF reads the same when it
 * meets a function first, bpf_skel/v8-text.bpf.h.
 */
#include "v8-scope.h"

static void put_range(struct v8_scope *scope, u64 start, u64 end)
{
	scope->start = v8_smi(start);
	scope->end = v8_smi(end);
}

/*
 * The name, or the one that V8 has inferred, is the first string behind the locals that is not
 * empty; the first two integers that may be a range are the positions, in versions before 12.8. A
 * map begins the next object.
 */
static void read_scope(const struct v8_heap *heap, u64 addr, struct v8_scope *scope)
{
	const struct v8_layout *layout = heap->layout;
	bool is_first = layout->version >= V8_POSITIONS_FIRST;
	u64 words[V8_SCOPE_WORDS] = {}, nr, at = addr + 8;
	unsigned int i;

	nr = v8_word(heap, at + 8 * layout->scope_nr_locals);
	if (!v8_is_smi(nr) || v8_smi(nr) < 0 || v8_smi(nr) > V8_MAX_LOCALS)
		return;
	if (is_first)
		put_range(scope, v8_word(heap, at + 8 * V8_POSITIONS_INDEX),
			  v8_word(heap, at + 8 * (V8_POSITIONS_INDEX + 1)));
	nr = v8_smi(nr);
	at += 8 * (layout->scope_first_vars + (nr < V8_MAX_NAMED_LOCALS ? nr : 1) + nr);
	if (hybrid_process_memory_read(heap->pm, at, words, sizeof(words)))
		return;
	for (i = 0; i < V8_SCOPE_WORDS && !v8_is_map(heap, words[i]); i++) {
		if (!scope->name[0] && v8_string__text(heap, words[i], scope->name))
			continue;
		if (is_first || !i || !v8_is_smi(words[i]) || !v8_is_smi(words[i - 1]) ||
		    v8_smi(words[i - 1]) < 0 || v8_smi(words[i - 1]) >= v8_smi(words[i]))
			continue;
		put_range(scope, words[i - 1], words[i]);
		return;
	}
}

void v8_scope__read(const struct v8_heap *heap, u64 word, struct v8_scope *scope)
{
	u16 type;
	u64 addr = v8_object(heap, word, &type);

	scope->name[0] = 0;
	scope->start = -1;
	scope->end = -1;
	if (addr && type == heap->layout->type_scope_info)
		read_scope(heap, addr, scope);
	else if (addr && type < heap->layout->first_nonstring)
		v8_string__text(heap, word, scope->name);
}
