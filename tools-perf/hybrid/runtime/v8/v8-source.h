/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_V8_SOURCE_H
#define __PERF_HYBRID_V8_SOURCE_H

#include "v8-lines.h"
#include "v8-told.h"

/**
 * v8_source__lines - the lines of a function's source, if the process can't be read any more
 * @pm: of the process
 * @file: mapping of V8's code in it, its object open; NULL: not known
 * @told: the function
 * @lines: out; zeroed
 *
 * The text of Node.js's own scripts is in its file. That of others is in the file that the script
 * is called by: it is believed if it has as many characters as the process had.
 *
 * Return: false if there is no such file, or it has other characters; @lines is empty then.
 */
bool v8_source__lines(struct hybrid_process_memory *pm, const struct hybrid_mapping *file,
		      const struct v8_told *told, struct v8_lines *lines);

#endif /* __PERF_HYBRID_V8_SOURCE_H */
