/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_ROWS_H
#define __PERF_HYBRID_ROWS_H

#include "arch.h"
#include "space.h"

/* Whose share the file of a mapping is of. @fd: the file; O_PATH is enough */
struct hybrid_file_user *hybrid_mapping_user(const struct hybrid_mapping *mapping, int fd);

/**
 * hybrid_object_use - open the file that a mapping shows, if it is not open
 * @mapping: with an object
 *
 * Return: false where it can't be read.
 */
bool hybrid_object_use(const struct hybrid_mapping *mapping);

/**
 * hybrid_object_use_unawaited - the same, for what the sample can do without
 * @mapping: with an object
 *
 * Return: false where it can't be read, or not yet: no sample waits for it.
 */
bool hybrid_object_use_unawaited(const struct hybrid_mapping *mapping);

/**
 * hybrid_object_row - the row for one address of a mapping
 * @mapping: with an object, which is opened now if it was not yet
 * @ip: an address inside of @mapping
 *
 * Return: the row, valid while its object has a reference; its rule is
 * HYBRID_RULE_NONE where no CFI covers @ip. NULL where memory is short or the
 * object can't be read (its state is then HYBRID_OBJECT_FAILED).
 */
struct hybrid_row *hybrid_object_row(const struct hybrid_mapping *mapping, u64 ip);

/**
 * hybrid_image_row - the row for one address of what a process has compiled
 * @image: from hybrid_object_of_image()
 * @ip: an address in that process
 *
 * Return: as hybrid_object_row().
 */
struct hybrid_row *hybrid_image_row(struct hybrid_object *image, u64 ip);

/**
 * hybrid_object_code_rule - the rule for an address that no CFI covers
 * @row: of the address, its rule is HYBRID_RULE_NONE; keeps what is found
 * @mapping: with an object that is open
 * @ret: the address, exactly
 *
 * Return: the rule, kind HYBRID_RULE_NONE where the code does not tell.
 */
const struct hybrid_rule *hybrid_object_code_rule(struct hybrid_row *row,
						  const struct hybrid_mapping *mapping,
						  u64 ret);

/**
 * hybrid_object_is_return - may an address be a return address?
 * @mapping: that holds it
 * @ret: the address
 *
 * Return: false where its object can be read and no call stands before it.
 */
bool hybrid_object_is_return(const struct hybrid_mapping *mapping, u64 ret);

/**
 * hybrid_object_calls_with_result - is a call's result the argument of the next call?
 * @mapping: that holds it; may have no object
 * @ret: the first call's return address
 */
bool hybrid_object_calls_with_result(const struct hybrid_mapping *mapping, u64 ret);

/**
 * hybrid_object_is_uprobe - may an optimized uprobe be before an address?
 * @mapping: that holds it; may have no object
 * @ret: the address
 * @left: out: bytes below sp that it leaves alone before it calls the kernel's code
 */
bool hybrid_object_is_uprobe(const struct hybrid_mapping *mapping, u64 ret, u64 *left);

/**
 * hybrid_object_leads - did the call before a return address lead to a callee?
 * @mapping: that holds @ret - 1, with an object
 * @ret: the return address
 * @callee_mapping: that holds @callee; NULL: none does
 * @callee: an address of the frame that was called
 *
 * Return: HYBRID_REACH_MAYBE where the object can't be read.
 */
enum hybrid_reach hybrid_object_leads(const struct hybrid_mapping *mapping, u64 ret,
				      const struct hybrid_mapping *callee_mapping, u64 callee);

#endif /* __PERF_HYBRID_ROWS_H */
