/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_PPROF_UTF8_H
#define __PERF_PPROF_UTF8_H

/**
 * utf8_repair - make a string that is not UTF-8 one that is
 * @str: names of files and threads may be any bytes; each that is wrong becomes "?"
 */
void utf8_repair(char *str);

#endif /* __PERF_PPROF_UTF8_H */
