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

static const struct hybrid_page *page_of(struct hybrid_code *code, u64 vaddr)
{
	u64 at = vaddr % HYBRID_PAGE, offset;
	const struct hybrid_page *page;

	if (code->is_read && code->page == vaddr - at)
		return hybrid_page_read(code->object, code->offset);
	/* The segment may begin inside of the page. */
	if (!hybrid_object_offset(code->object, vaddr, &offset) || offset < at)
		return NULL;
	page = hybrid_page_read(code->object, offset - at);
	if (!page || page->nr < at)
		return NULL;
	code->page = vaddr - at;
	code->offset = offset - at;
	code->is_read = true;
	return page;
}

static int read_object(void *code, unsigned long addr, void *dst, unsigned int len)
{
	const struct hybrid_page *page;
	u64 at = addr % HYBRID_PAGE;

	if (len > HYBRID_PAGE - at)
		return -1;
	page = page_of(code, addr);
	if (!page)
		return -1;
	memcpy(dst, page->bytes + at, len);
	return 0;
}

struct hybrid_code hybrid_object_code(const struct hybrid_object *object)
{
	return (struct hybrid_code) {
		.read = read_object, .word = object->cfi.abi->word, .any_bp = true,
		.object = object,
	};
}
