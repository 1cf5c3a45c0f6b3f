// SPDX-License-Identifier: GPL-2.0
/*
 * Source files, as V8 has them in objects of the type Script: src/objects/script.h.
 */
#include <string.h>
#include <linux/kernel.h>
#include "v8-script.h"
#include "v8-source.h"

static void forget(struct v8_script *script)
{
	v8_lines__free(&script->lines);
	memset(script, 0, sizeof(*script));
}

static bool read_script(struct v8_script *script, const struct v8_heap *heap, u64 addr)
{
	forget(script);
	script->name = v8_word(heap, addr + heap->layout->script_name);
	script->source = v8_word(heap, addr + heap->layout->script_source);
	if (!script->source)
		return false;
	/* Of eval() it is undefined. */
	if (!v8_string__text(heap, script->name, script->file))
		script->file[0] = 0;
	v8_string__each(heap, script->source, V8_MAX_SOURCE, v8_lines__put, &script->lines);
	v8_lines__end(&script->lines);
	script->length = script->lines.length;
	script->addr = addr;
	return true;
}

const struct v8_script *v8_script__get(struct v8_scripts *scripts, const struct v8_heap *heap,
				       u64 addr)
{
	struct v8_script *script;
	unsigned int i;

	for (i = 0; i < V8_SCRIPTS; i++) {
		script = &scripts->known[i];
		if (script->addr == addr && addr &&
		    script->name == v8_word(heap, addr + heap->layout->script_name) &&
		    script->source == v8_word(heap, addr + heap->layout->script_source))
			return script;
	}
	script = &scripts->known[scripts->next++ % V8_SCRIPTS];
	return read_script(script, heap, addr) ? script : NULL;
}

const struct v8_script *v8_script__told(struct v8_scripts *scripts,
					struct hybrid_process_memory *pm,
					const struct hybrid_mapping *file,
					const struct v8_told *told)
{
	struct v8_script *script;
	unsigned int i;

	if (!told->file[0])
		return NULL;
	for (i = 0; i < V8_SCRIPTS; i++) {
		script = &scripts->known[i];
		if (script->lines.nr && script->length == told->source.length &&
		    !strcmp(script->file, told->file))
			return script;
	}
	script = &scripts->known[scripts->next++ % V8_SCRIPTS];
	forget(script);
	memcpy(script->file, told->file, sizeof(script->file));
	script->length = told->source.length;
	v8_source__lines(pm, file, told, &script->lines);
	return script;
}

void v8_scripts__exit(struct v8_scripts *scripts)
{
	unsigned int i;

	for (i = 0; i < V8_SCRIPTS; i++)
		forget(&scripts->known[i]);
}
