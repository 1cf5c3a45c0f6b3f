// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <unistd.h>
#include <sys/socket.h>
#include "pool-world.h"
#include "tap.h"

struct pool_world pool;

static int start_process(int socket)
{
	pool.first_end = dup(socket);
	return pool.first_end < 0 ? -1 : 0;
}

void pool_start(unsigned int nr)
{
	int sockets[2];
	unsigned int i;

	hybrid_file_budget_init(&pool.budget);
	pool.budget.clock = tap_stopped_clock;
	pool.user = hybrid_file_user_get(&pool.budget, USER);
	/* What is given back with time is now, and not later. */
	check(hybrid_file_take(pool.user, HYBRID_FILE_READ, 0));
	pool.loader = (struct hybrid_loader) {
		.ops.start = start_process, .socket = -1, .nr_helpers = nr,
	};
	INIT_LIST_HEAD(&pool.loader.queue);
	for (i = 0; i < nr; i++) {
		check(!socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets));
		pool.ends[i] = sockets[1];
		pool.loader.helpers[i] = (struct hybrid_helper) {
			.socket = sockets[0], .is_started = true, .is_busy = true, .dev = DEV + i,
		};
	}
	pool.first_end = -1;
}

void pool_end(unsigned int nr)
{
	struct hybrid_load *load, *next;

	list_for_each_entry_safe(load, next, &pool.loader.queue, list)
		hybrid_load_free(load);
	hybrid_helpers_exit(&pool.loader);
	while (nr--)
		close(pool.ends[nr]);
	close(pool.first_end);
}

struct hybrid_load *pool_load(u32 kind, dev_t dev)
{
	struct hybrid_load *load = calloc(1, sizeof(*load));

	if (!load)
		abort();
	INIT_LIST_HEAD(&load->list);
	load->request.kind = kind;
	load->dev = dev;
	load->user = pool.user;
	load->fd = -1;
	load->is_wanted = true;
	return load;
}

struct hybrid_load *pool_ask(u32 kind, dev_t dev)
{
	struct hybrid_load *load = pool_load(kind, dev);

	list_add_tail(&load->list, &pool.loader.queue);
	hybrid_helpers_read(&pool.loader);
	return load;
}

void pool_say(unsigned int nr, const struct hybrid_helper_answer *answer, const int *fds)
{
	same(hybrid_helper_send(pool.ends[nr], answer, sizeof(*answer), fds), 0);
}
