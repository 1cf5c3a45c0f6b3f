// SPDX-License-Identifier: GPL-2.0
/*
 * A program that has CPython in it.
 *
 * usage: embedded SCRIPT [ARGUMENT...]
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	PyConfig config;
	PyStatus status;
	FILE *script;
	int err;

	if (argc < 2)
		return 2;
	script = fopen(argv[1], "r");
	if (!script)
		return 1;
	PyConfig_InitIsolatedConfig(&config);
	config.parse_argv = 0;
	status = PyConfig_SetBytesArgv(&config, argc - 1, argv + 1);
	if (!PyStatus_Exception(status))
		status = Py_InitializeFromConfig(&config);
	PyConfig_Clear(&config);
	if (PyStatus_Exception(status))
		return 1;
	err = PyRun_SimpleFile(script, argv[1]);
	fclose(script);
	return Py_FinalizeEx() < 0 || err;
}
