/* SPDX-License-Identifier: GPL-2.0 */
/* What user_callchain_sites.S has. */
#ifndef _USER_CALLCHAIN_SITES_H
#define _USER_CALLCHAIN_SITES_H

typedef void (*site_fn)(long);

void outer(site_fn fn, long arg);
extern const char outer_ret[], caller_ret[], like_trampoline_ret[];
void sleep_stub(long arg);
extern const char sleep_stub_ret[];

/* What user_callchain_sites.S lists of function @name. */
#define SITES(name)					\
	void name(long arg);			\
	extern const unsigned long name##_sites[], name##_sites_end[]

SITES(framed);
SITES(framed_saves);
SITES(leaf);
SITES(leaf_saves);
SITES(shrink_wrapped);
SITES(tail_call);
SITES(plt_entry);
SITES(handler_leaf);
SITES(handler_framed);
SITES(like_prologue);
SITES(like_ret);
SITES(like_trampoline);
#ifdef __x86_64__
SITES(circle);
extern const char circle_restorer[];
#endif

/* A function that is interrupted, and where. */
#define INTERRUPTED(name)				\
	void name(long arg);			\
	extern const char name##_at[]

INTERRUPTED(interrupted_body);
INTERRUPTED(interrupted_prologue);
INTERRUPTED(interrupted_epilogue);
INTERRUPTED(interrupted_ret);
INTERRUPTED(interrupted);

#endif /* _USER_CALLCHAIN_SITES_H */
