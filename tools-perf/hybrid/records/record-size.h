/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_RECORD_SIZE_H
#define __PERF_HYBRID_RECORD_SIZE_H

#include <linux/perf_event.h>
#include <linux/types.h>

/**
 * hybrid_record_size - how much of a record the kernel has written
 * @event: the record, header.size bytes of it readable
 * @id_size: bytes that each record ends with, by sample_id_all
 *
 * Up to Linux 6.18 perf_event_ksymbol_output(), perf_event_bpf_output() and
 * perf_event_text_poke_output() add to header.size and leave it so for the next event
 * that takes the record. Where two recordings run, the second has what happened to be in
 * the ring behind its own words, and finds its id and time there.
 *
 * Return: bytes, at most header.size.
 */
u16 hybrid_record_size(const struct perf_event_header *event, u16 id_size);

#endif /* __PERF_HYBRID_RECORD_SIZE_H */
