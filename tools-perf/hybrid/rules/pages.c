// SPDX-License-Identifier: GPL-2.0
#include <string.h>
#include <linux/hash.h>
#include "object.h"
#include "pages.h"

/* A breakpoint: no code that one would go on to. */
#define INT3	0xcc

const struct hybrid_page *hybrid_page_read(const struct hybrid_object *object, u64 offset)
{
	u64 key = offset / HYBRID_PAGE + (object->id << 32);
	struct hybrid_page *page = &object->objects->pages[hash_64(key, HYBRID_PAGES_BITS)];
	ssize_t got;

	if (page->id == object->id && page->offset == offset)
		return page;
	page->id = 0;
	got = hybrid_object_read(object, page->bytes, HYBRID_PAGE, offset);
	if (got <= 0)
		return NULL;
	memset(page->bytes + got, INT3, HYBRID_PAGE - got);
	page->id = object->id;
	page->offset = offset;
	page->nr = got;
	return page;
}
