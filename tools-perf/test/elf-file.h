/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __HYBRID_TEST_ELF_FILE_H
#define __HYBRID_TEST_ELF_FILE_H

#include "process.h"

/**
 * elf_file_path - where a built ELF file is
 * @name: without its directory
 *
 * Return: valid until called again.
 */
const char *elf_file_path(const char *name);

/**
 * elf_file_symbol - address of a label, as the ELF file numbers it
 * @name: of the file
 * @symbol: of the label; where there is none the program ends
 */
u64 elf_file_symbol(const char *name, const char *symbol);

/* Returns 0 where it has mapped it. */
typedef int (*elf_file_map_fn)(struct hybrid_mapping *mapping, const struct hybrid_ident *ident,
			       bool exec, void *arg);

/* elf_file_map() by @map. */
void elf_file_each_map(const char *name, u64 bias, elf_file_map_fn map, void *arg);

/**
 * elf_file_map - what the dynamic linker would do with the file
 * @ps: tasks
 * @pid: of the process that gets the mappings
 * @name: of the file
 * @bias: address at which the file's address 0 is
 */
void elf_file_map(struct hybrid_processes *ps, pid_t pid, const char *name, u64 bias);

/* A hybrid_open_fn for paths that are just that. */
int elf_file_open(const struct hybrid_mapping *mapping);

#endif /* __HYBRID_TEST_ELF_FILE_H */
