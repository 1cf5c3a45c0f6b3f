// SPDX-License-Identifier: GPL-2.0
#include "await.h"
#include "file-compare.h"

enum hybrid_load_state hybrid_await(struct hybrid_object *object, bool wait)
{
	if (object->comparison)
		return hybrid_compare_state(object, wait);
	return object->load ? hybrid_loader_state(object, wait) : HYBRID_LOAD_DONE;
}

void hybrid_await_give_up(struct hybrid_object *object)
{
	object->is_late = true;
	if (object->load)
		hybrid_loader_give_up(object);
}
