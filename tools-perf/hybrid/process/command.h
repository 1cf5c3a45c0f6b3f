/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_HYBRID_COMMAND_H
#define __PERF_HYBRID_COMMAND_H

/**
 * hybrid_command_program - find the file of the program that a command runs
 * @name: of the command, as execvp() takes it: it is searched for in PATH if it has no slash
 * @path: out; room for PATH_MAX bytes. Without symbolic links
 *
 * The program of a script is the interpreter that its first line names. If that is env, the
 * program is the command that the line gives to env.
 *
 * Return: 0, or -1 if there is no such file, or scripts name each other more than four times.
 */
int hybrid_command_program(const char *name, char *path);

/**
 * typedef hybrid_library_fn - take a library of a program
 * @arg: the owner's
 * @path: its file, without symbolic links; valid until the function returns
 */
typedef void (*hybrid_library_fn)(void *arg, const char *path);

/**
 * hybrid_command_libraries - find the libraries that the dynamic linker is to load first
 * @program: path of an ELF file
 * @found: called for each, in their order, at most 64 times
 * @arg: for @found
 *
 * The libraries that the file itself names (DT_NEEDED). They are searched for as ld.so(8) does, but
 * without its cache: in DT_RPATH or DT_RUNPATH, LD_LIBRARY_PATH and the usual folders.
 */
void hybrid_command_libraries(const char *program, hybrid_library_fn found, void *arg);

#endif /* __PERF_HYBRID_COMMAND_H */
