/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_V8_INLINED_H
#define __PERF_HYBRID_V8_INLINED_H

#include "../name-chain.h"
#include "v8-code.h"

#define V8_ADDRESSES_BITS	12

/**
 * struct v8_inlined - a function that a compiled frame stands for
 * @shared: address of its SharedFunctionInfo
 * @place: in its bytecode; HYBRID_WALK_NO_PLACE: unknown
 */
struct v8_inlined {
	u64	shared;
	u32	place;
};

/**
 * struct v8_address - an address in compiled code that was looked up
 * @ip: the address
 * @is_innermost: of the innermost frame
 * @is_interpreter: the code is a copy of the interpreter
 * @is_regexp: the code is that of a regular expression
 * @code: number of the code in struct v8_codes
 * @serial: of the code
 * @shared: of the code's function, as of struct v8_code
 * @list: the functions, the innermost first; owned
 * @nr: number of @list; 0: unknown
 */
struct v8_address {
	u64			 ip;
	bool			 is_innermost;
	bool			 is_interpreter;
	bool			 is_regexp;
	unsigned int		 code;
	u64			 serial;
	u64			 shared;
	struct v8_inlined	*list;
	unsigned int		 nr;
};

/**
 * struct v8_addresses - addresses in the compiled code of a process
 * @codes: the code
 * @known: by address
 */
struct v8_addresses {
	struct v8_codes		codes;
	struct v8_address	known[1 << V8_ADDRESSES_BITS];
};

/**
 * v8_addresses__find - which functions compiled code is in
 * @addresses: of the process
 * @heap: of the process
 * @from: where the mapping of the code begins
 * @ip: the sampled address, or one that a call returns to
 * @is_innermost: it is the sampled address. Its functions are those of the nearest place in the
 *	code for which V8 has noted them
 *
 * Return: valid until the next call; NULL if there is no such code, or it can't be read.
 */
const struct v8_address *v8_addresses__find(struct v8_addresses *addresses,
					    const struct v8_heap *heap, u64 from, u64 ip,
					    bool is_innermost);

void v8_addresses__exit(struct v8_addresses *addresses);

#endif /* __PERF_HYBRID_V8_INLINED_H */
