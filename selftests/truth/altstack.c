// SPDX-License-Identifier: GPL-2.0
/*
 * Like signals.c, and a handler on an alternate stack: what it interrupted lies
 * on another stack, which no dump of this one holds.
 */
#define ALTSTACK
#include "signals.c"
