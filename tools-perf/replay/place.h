/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __HYBRID_REPLAY_PLACE_H
#define __HYBRID_REPLAY_PLACE_H

#include "space.h"

/* The files are below this directory: those of another machine. */
extern const char *place_root;

/* A hybrid_open_fn: by the path alone. */
int place_open(const struct hybrid_mapping *mapping);

/**
 * place_address - an address as the ELF file numbers it
 * @mapping: with an object that is open
 * @ip: in @mapping
 * @vaddr: out
 *
 * Return: false where no executable segment holds it.
 */
bool place_address(const struct hybrid_mapping *mapping, u64 ip, u64 *vaddr);

/**
 * place_print - where an address is: symbol, file, address in the file
 * @mapping: that holds it; may be NULL
 * @ip: the address
 */
void place_print(const struct hybrid_mapping *mapping, u64 ip);

/**
 * place_check - say it, once, where a file is not the one that was mapped
 * @object: open
 */
void place_check(const struct hybrid_object *object);

void place_exit(void);

#endif /* __HYBRID_REPLAY_PLACE_H */
