/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * HYBRID_LANGUAGE() of each language, for who includes this:
 *	its name,
 *	its folder in runtime/, which has struct hybrid_runtime_ops hybrid_FOLDER_ops,
 *	what the file of its functions is called,
 *	its DW_LANG_*; 0: it has none,
 *	which native function's frame only runs the function whose entry comes next in a chain: "":
 *	any one; NULL: none. V8's builtins are followed by the function that has called them, but
 *	only one of them interprets.
 */
HYBRID_LANGUAGE(JAVA, java, "java-methods", DW_LANG_Java, NULL)
HYBRID_LANGUAGE(PERL, perl, "perl-functions", 0, "")
HYBRID_LANGUAGE(PHP, php, "php-functions", 0, "")
HYBRID_LANGUAGE(PYTHON, python, "python-functions", DW_LANG_Python, "")
HYBRID_LANGUAGE(RUBY, ruby, "ruby-functions", DW_LANG_RUBY, "")
HYBRID_LANGUAGE(V8, v8, "js-functions", 0, "Builtins_InterpreterEntryTrampoline")
