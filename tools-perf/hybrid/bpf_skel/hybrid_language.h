/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
#ifndef __HYBRID_LANGUAGE_H
#define __HYBRID_LANGUAGE_H

/* The languages whose functions are shown. */
enum hybrid_language {
	HYBRID_NO_LANGUAGE,
#define HYBRID_LANGUAGE(name, ...)	HYBRID_LANGUAGE_##name,
#include "languages.h"
#undef HYBRID_LANGUAGE
	HYBRID_NR_LANGUAGES,
};

#endif /* __HYBRID_LANGUAGE_H */
