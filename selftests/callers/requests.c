// SPDX-License-Identifier: GPL-2.0
/*
 * Handlers of requests that all write their line through one function: it has a
 * buffer, and where snprintf() converts a number the dump of 8 KiB does not reach
 * the handler any more.
 */
#include "callers.h"

FN_A(void, write_line, (const char *what, uint32_t *state), "@logged libc")
{
	char line[5500];
	int n;

	ENTER(write_line);
	touch(line, sizeof(line));
	n = snprintf(line, sizeof(line), "%s %s %u %u %.300f %.300f %.300f %.300f", what, what,
		     any(state), any(state), 1.0 / any(state), 1.0 / any(state),
		     1.0 / any(state), 1.0 / any(state));
	keep(line + n);
	LEAVE(write_line);
}

#define HANDLER(half, name)						\
FN_##half(void, name, (const char *what, uint32_t *state), "@logged")	\
{									\
	ENTER(name);							\
	spin(500);							\
	write_line(what, state);					\
	spin(500);							\
	LEAVE(name);							\
}

HANDLER(B, handle_get)
HANDLER(B, handle_put)
HANDLER(B, handle_list)
HANDLER(B, handle_delete)

FN_B(void, dispatch, (uint32_t *state), "@logged")
{
	static void (*const handlers[])(const char *what, uint32_t *state) = {
		handle_get, handle_put, handle_list, handle_delete,
	};

	ENTER(dispatch);
	handlers[any(state) >> 7 & 3]("request", state);
	LEAVE(dispatch);
}

static uint32_t state = 1;

#define WORK() dispatch(&state)

#include "main.h"
