/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_CALL_CHECK_H
#define __PERF_HYBRID_CALL_CHECK_H

#include "../rules/arch.h"
#include "unwind.h"

/**
 * hybrid_check_call - did the call before a return address lead to what runs?
 * @unwinder: caches
 * @space: the mappings; may gain one where they come on demand
 * @pid: the process, to be asked for code that no file backs; 0: it can't be
 * @abi: of the task
 * @ret: the return address, found by anything else than CFI
 * @callee: of the frame inside of it, as struct hybrid_frame has it
 *
 * Of code that no file backs only the call itself is looked for. A signal
 * handler's return needs none.
 *
 * Return: see enum hybrid_reach; HYBRID_REACH_NOT where no mapping holds @ret.
 */
enum hybrid_reach hybrid_check_call(struct hybrid_unwinder *unwinder, struct hybrid_space *space,
				    pid_t pid, const struct hybrid_abi *abi, u64 ret, u64 callee);

/**
 * hybrid_is_after_call - does a call stand before an address?
 * @unwinder: caches
 * @u: the sample
 * @mapping: that holds @ret, or the call before it; NULL: none
 * @ret: the address
 *
 * Return: true also if code that no file backs can't be read, and where V8's frames are entered.
 */
bool hybrid_is_after_call(const struct hybrid_unwinder *unwinder, const struct hybrid_unwind *u,
			  const struct hybrid_mapping *mapping, u64 ret);

/* Where the function that holds @ip begins, in the process; 0: unknown. */
u64 hybrid_function_of(const struct hybrid_unwind *u, u64 ip);

/**
 * hybrid_leads_to - the same of a frame of a sample
 * @unwinder: caches
 * @u: the sample
 * @ret: the return address, as above
 * @callee: as above
 * @enough: an answer from which on no better one is looked for
 *
 * Looks first at the start of the callee's function: most calls lead there, and one result serves
 * all addresses of the function. Only if that gives less than @enough, @callee itself is looked
 * for in the code that was called.
 */
enum hybrid_reach hybrid_leads_to(struct hybrid_unwinder *unwinder, const struct hybrid_unwind *u,
				  u64 ret, u64 callee, enum hybrid_reach enough);

#endif /* __PERF_HYBRID_CALL_CHECK_H */
