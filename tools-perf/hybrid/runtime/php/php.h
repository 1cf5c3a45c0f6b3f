/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_PHP_H
#define __PERF_HYBRID_PHP_H

#include "../runtime.h"

extern const struct hybrid_runtime_ops hybrid_php_ops;

#endif /* __PERF_HYBRID_PHP_H */
