/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_RELOCATION_H
#define __PERF_HYBRID_RELOCATION_H

#include <gelf.h>
#include "object.h"

/**
 * hybrid_relocation_find - what the loader puts at an address of a file
 * @object: open
 * @vaddr: address as the ELF file numbers them
 * @max: relocations of each section that are looked at
 * @rela: out: the first of them that is for @vaddr
 * @section: out: the section that @rela is in
 *
 * Those with an addend alone: 64-bit files have no others (psABI x86-64 4.4).
 *
 * Return: true where there is one.
 */
bool hybrid_relocation_find(const struct hybrid_object *object, u64 vaddr, size_t max,
			    GElf_Rela *rela, GElf_Shdr *section);

/**
 * hybrid_relocation_word - what stands at an address of a file once it is loaded
 * @object: open
 * @vaddr: address as the ELF file numbers them
 * @max: relocations of each section that are looked at
 * @word: out: an address of the file, where the loader adds where the file is
 *
 * Return: false where no segment of the file has it, or another file does.
 */
bool hybrid_relocation_word(const struct hybrid_object *object, u64 vaddr, size_t max, u64 *word);

#endif /* __PERF_HYBRID_RELOCATION_H */
