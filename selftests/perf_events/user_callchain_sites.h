/* SPDX-License-Identifier: GPL-2.0 */
/* What user_callchain_sites.S has. */
#ifndef _USER_CALLCHAIN_SITES_H
#define _USER_CALLCHAIN_SITES_H

typedef void (*site_fn)(long);

void outer(site_fn fn, long arg);
void interrupted(long arg);
void sleep_stub(long arg);
extern const char outer_ret[], caller_ret[], interrupted_at[], sleep_stub_ret[];

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

#endif /* _USER_CALLCHAIN_SITES_H */
