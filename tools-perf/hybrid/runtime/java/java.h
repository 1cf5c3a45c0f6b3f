/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_JAVA_H
#define __PERF_HYBRID_JAVA_H

#include "../runtime.h"

/* HotSpot, as OpenJDK 17 and later have it. */
extern const struct hybrid_runtime_ops hybrid_java_ops;

#endif /* __PERF_HYBRID_JAVA_H */
