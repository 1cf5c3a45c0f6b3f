/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_SKID_EVSEL_H
#define __PERF_HYBRID_SKID_EVSEL_H

#include "../unwind/skid.h"

struct evsel;
struct perf_env;

/**
 * hybrid_skid__evsel - hybrid_skid() of an event
 * @evsel: the event, open or read from a file
 * @env: of the file; NULL: it is sampled on this machine, now
 */
enum hybrid_skid hybrid_skid__evsel(const struct evsel *evsel, const struct perf_env *env);

#endif /* __PERF_HYBRID_SKID_EVSEL_H */
