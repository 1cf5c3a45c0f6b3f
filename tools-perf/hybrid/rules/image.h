/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_IMAGE_H
#define __PERF_HYBRID_IMAGE_H

#include "object.h"

/* Is it an ELF file of 64 bits that was not linked yet? */
bool hybrid_image_is_relocatable(const void *image, u64 size);

/**
 * hybrid_image_eh_frame - where a process has the .eh_frame of what it has loaded
 * @image: hybrid_image_is_relocatable(); the section becomes one that libdw reads
 * @size: bytes of @image
 * @offset: out: in @image
 * @addr: out: in the process
 * @len: out: bytes
 *
 * Return: false where it has none, or it is not loaded.
 */
bool hybrid_image_eh_frame(void *image, u64 size, u64 *offset, u64 *addr, u64 *len);

/**
 * hybrid_image_code - where the code of an image is
 * @object: from hybrid_object_of_image()
 * @start: out: the first of its sections of code, in the process
 * @end: out: behind the last; not above @start where there is none
 */
void hybrid_image_code(const struct hybrid_object *object, u64 *start, u64 *end);

#endif /* __PERF_HYBRID_IMAGE_H */
