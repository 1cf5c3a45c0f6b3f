/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SELFTESTS_FIBERS_H
#define SELFTESTS_FIBERS_H

#include <stddef.h>

struct transfer {
	void	*context;
	void	*data;
};

#ifdef NO_BOOST
static struct transfer jump_fcontext(void *to, void *data)
{
	return (struct transfer) { to, data };
}

static void *make_fcontext(void *stack, size_t size, void (*entry)(struct transfer))
{
	(void)size;
	(void)entry;
	return stack;
}
#else
/* Of libboost_context. */
struct transfer jump_fcontext(void *to, void *data);
void *make_fcontext(void *stack, size_t size, void (*entry)(struct transfer));
#endif

/* In switch.S: saves the registers, puts sp into @save, and goes on at @to. */
void fiber_switch(void **save, void *to);

/* What a first return address may be of; neither runs. */
void fiber_done(void);
void fiber_behind(void);

#endif
