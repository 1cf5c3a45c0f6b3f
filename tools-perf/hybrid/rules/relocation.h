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

#endif /* __PERF_HYBRID_RELOCATION_H */
