// SPDX-License-Identifier: GPL-2.0
/* An extension module: outer() calls back into Python, which calls inner(). */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include "truth.h"

/* struct _object is what PyObject names. */

FN_A(void, inner_leaf, (long n), "inner")
{
	spin(2000 + (n & 7));
}

/* Python calls it on behalf of call_back(). */
FN_B(struct _object *, inner, (struct _object *self, struct _object *arg), "call_back via libc")
{
	inner_leaf(3);
	Py_INCREF(arg);
	return arg;
}

FN_A(struct _object *, call_back, (struct _object *function, struct _object *arg), "outer_mid libc")
{
	struct _object *ret = PyObject_CallFunctionObjArgs(function, arg, NULL);

	keep(ret);
	return ret;
}

FN_B(void, outer_leaf, (void), "outer_mid")
{
	spin(1000);
}

FN_A(struct _object *, outer_mid, (struct _object *function, struct _object *arg), "outer")
{
	struct _object *ret;

	outer_leaf();
	ret = call_back(function, arg);
	outer_leaf();
	return ret;
}

/* Below it is the interpreter, and main. */
FN_B(struct _object *, outer, (struct _object *self, struct _object *args), "@start libc")
{
	struct _object *function, *arg;

	if (!PyArg_ParseTuple(args, "OO", &function, &arg))
		return NULL;
	return outer_mid(function, arg);
}

static PyMethodDef methods[] = {
	{ "outer", outer, METH_VARARGS, NULL },
	{ "inner", inner, METH_O, NULL },
	{ }
};

static struct PyModuleDef module = {
	PyModuleDef_HEAD_INIT, "pymodule", NULL, -1, methods, NULL, NULL, NULL, NULL
};

PyMODINIT_FUNC PyInit_pymodule(void)
{
	return PyModule_Create(&module);
}
