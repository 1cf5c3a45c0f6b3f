/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SELFTESTS_JUDGE_OBJECT_H
#define SELFTESTS_JUDGE_OBJECT_H

#include "../frame/cfi-rows.h"

/* Lists of what is known by address, for each object. */
#define OBJECT_LISTS	1024

/**
 * struct function - a function that the unwind tables of a file name
 * @start: its first address
 * @end: the first behind it
 */
struct function {
	u64	start;
	u64	end;
};

/**
 * struct export - a dynamic symbol whose address a file has
 * @name: its name, without a version
 * @value: its address
 * @chosen: the loader asks a function of the file for the address (IFUNC)
 * @entry: it is that of the file's procedure linkage table; another file has the function
 */
struct export {
	const char	*name;
	u64		value;
	bool		chosen;
	bool		entry;
};

/**
 * struct slot - a word of the global offset table
 * @at: its address
 * @name: whose address the loader writes there; NULL: @value's
 * @value: an address of the same file; 0: something else
 */
struct slot {
	u64		at;
	const char	*name;
	u64		value;
};

/**
 * struct object - a file that chains have addresses in
 * @path: as perf script names it
 * @next: in the list of all
 * @readable: it is an ELF file that is there; else nothing below is valid
 * @is_loader: it is the dynamic loader
 * @has_landing: functions of it have landing pads for exceptions
 * @is_go: Go's linker made it, which writes a table of lines of its own
 * @image: its bytes
 * @rows: its unwind tables; without @cfi it has none
 * @entry: where a process begins
 * @functions: by address
 * @nr_functions: of @functions
 * @exports: by name
 * @nr_exports: of @exports
 * @slots: by address
 * @nr_slots: of @slots
 * @blocks: see code.c
 * @reaches: see code.c
 */
struct object {
	char			*path;
	struct object		*next;
	bool			readable;
	bool			is_loader;
	bool			has_landing;
	bool			is_go;
	struct elf_image	image;
	struct cfi_rows		rows;
	u64			entry;
	struct function		*functions;
	size_t			nr_functions;
	struct export		*exports;
	size_t			nr_exports;
	struct slot		*slots;
	size_t			nr_slots;
	struct block		*blocks[OBJECT_LISTS];
	struct reach		*reaches[OBJECT_LISTS];
};

/**
 * object_find - the file of a name; opened when first asked for
 * @path: as perf script names it
 */
struct object *object_find(const char *path);

/* The first of all that were asked for; @next leads on. */
struct object *object_first(void);

/* Is there code at an address? */
bool object_is_code(const struct object *object, u64 addr);

/* The bytes at an address; NULL where not all of them are in the file. */
const u8 *object_bytes(const struct object *object, u64 addr, u64 size);

/* The function that holds an address, or NULL. */
const struct function *object_function(const struct object *object, u64 addr);

/* Do the unwind tables say that nobody has called the code at an address? */
bool object_is_outermost(struct object *object, u64 addr);

/* The first function behind an address, or NULL. */
const struct function *object_function_behind(const struct object *object, u64 addr);

/* The first export of a name; the others of that name follow it. NULL: none. */
const struct export *object_export(const struct object *object, const char *name);

/* The word of the global offset table at an address, or NULL. */
const struct slot *object_slot(const struct object *object, u64 at);

#endif
