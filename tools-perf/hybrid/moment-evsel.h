/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_MOMENT_EVSEL_H
#define __PERF_HYBRID_MOMENT_EVSEL_H

#include "walk/moment.h"

struct evsel;
struct perf_env;

/**
 * hybrid_moment__evsel - hybrid_moment() of an event
 * @evsel: the event, open or read from a file
 * @env: of the file; NULL: it is sampled on this machine, now
 */
enum hybrid_moment hybrid_moment__evsel(const struct evsel *evsel, const struct perf_env *env);

#endif /* __PERF_HYBRID_MOMENT_EVSEL_H */
