// SPDX-License-Identifier: GPL-2.0
/*
 * Where PHP 8.2 to 8.4 have what is read of them: x86-64's of Zend/zend_compile.h,
 * zend_globals.h, zend_generators.h and zend_modules.h.
 */
#include <stdio.h>
#include <string.h>
#include <linux/kernel.h>
#include "../../rules/symbol.h"
#include "php-layout.h"

/* Bytes of the accessor that are looked through. */
#define MAX_CODE	64

/* In the table of modules: its entries. In an entry: the module. */
#define TABLE_ENTRIES	16
#define ENTRY_VALUE	0

/* In a module: its size; the version's number; is it built for debugging, or for threads? */
#define MODULE_SIZE	168

struct module {
	u16	size;
	u16	unused;
	u32	api;
	u8	debug;
	u8	zts;
};

/**
 * struct version - a version of PHP
 * @api: ZEND_MODULE_API_NO
 * @layout: of it
 */
struct version {
	u32			api;
	struct php_layout	layout;
};

/* In a frame: opline, func, the flags that say who has called, prev_execute_data. */
#define WALK(opcodes, filename)							\
	.walk = {								\
		.frame_size = 56, .position = 0, .function = 24, .flags = 42,	\
		.caller = 48, .code = (opcodes), .file = (filename),		\
		.generator_frame = 56, .delegate = 152, .own_frame = 184,	\
	}, .globals_frame = 488

static const struct version versions[] = {
	/* 8.2 */
	{ 20220829, { WALK(88, 152), .last = 80, .nr_closures = 180, .closures = 192 } },
	/* 8.3 */
	{ 20230831, { WALK(80, 144), .last = 76, .nr_closures = 172, .closures = 184 } },
	/* 8.4 */
	{ 20240924, { WALK(104, 168), .last = 96, .nr_closures = 188, .closures = 200 } },
};

/* "mov OFFSET(%REGISTER),%REGISTER", the first one with an offset of 32 bits. */
static bool reads_frame_at(struct hybrid_process_memory *pm, u64 code, u32 offset)
{
	u8 bytes[MAX_CODE];
	unsigned int i;
	u32 found;

	if (hybrid_process_memory_read(pm, code, bytes, sizeof(bytes)))
		return false;
	for (i = 0; i + 7 <= sizeof(bytes); i++) {
		if (bytes[i] != 0x48 || bytes[i + 1] != 0x8b || bytes[i + 2] >> 6 != 2)
			continue;
		memcpy(&found, bytes + i + 3, sizeof(found));
		return found == offset;
	}
	return false;
}

const struct php_layout *php_layout__of_file(const struct hybrid_object *object)
{
	char text[32];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(versions); i++) {
		snprintf(text, sizeof(text), "API%u,NTS", versions[i].api);
		if (hybrid_object_has_text(object, text))
			return &versions[i].layout;
	}
	return NULL;
}

const struct php_layout *php_layout__find(struct hybrid_process_memory *pm,
					  const struct php_file *file)
{
	u64 entries = hybrid_process_word(pm, file->registry + TABLE_ENTRIES);
	u64 at = entries ? hybrid_process_word(pm, entries + ENTRY_VALUE) : 0;
	struct module module;
	unsigned int i;

	if (!at || hybrid_process_memory_read(pm, at, &module, sizeof(module)) ||
	    module.size != MODULE_SIZE || module.zts || module.debug)
		return NULL;
	for (i = 0; i < ARRAY_SIZE(versions); i++) {
		if (versions[i].api == module.api &&
		    reads_frame_at(pm, file->accessor, versions[i].layout.globals_frame))
			return &versions[i].layout;
	}
	return NULL;
}
