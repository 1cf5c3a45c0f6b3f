/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_AWAIT_H
#define __PERF_HYBRID_AWAIT_H

#include "file-loader.h"

/**
 * hybrid_await - what became of what samples wait for
 * @object: see @waiting of struct hybrid_objects: its file is opened, or compared with another
 *	one of the same build-id
 * @wait: there is nothing else to do: wait for it here, up to the bounds of file-loader.h and
 *	file-compare.h
 */
enum hybrid_load_state hybrid_await(struct hybrid_object *object, bool wait);

/* Samples wait for it no more, however long they did. */
void hybrid_await_give_up(struct hybrid_object *object);

#endif /* __PERF_HYBRID_AWAIT_H */
