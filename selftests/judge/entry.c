// SPDX-License-Identifier: GPL-2.0
/*
 * Libc's calls of free() lead to this program's procedure linkage table: it is linked
 * to fixed addresses, and its entry is the address of free() for all files. Two functions never
 * return: main() calls one, and takes only the address of the other, as for a fiber.
 *
 *	entry SECONDS
 */
#include <regex.h>
#include <stdlib.h>
#include <time.h>

__attribute__((noipa)) static void begins(void)
{
	exit(2);
}

__attribute__((noipa)) static void is_called(void)
{
	exit(2);
}

int main(int argc, char **argv)
{
	time_t end = time(NULL) + (argc > 1 ? atoi(argv[1]) : 1);
	/* Only where code has the address is it the table's entry. */
	void (*release)(void *) = free;
	regex_t regex;

	__asm__("" : "+r" (release));
	do {
		if (regcomp(&regex, "a*b", 0))
			return 1;
		regfree(&regex);
	} while (time(NULL) <= end);
	release(NULL);
	if (argc > 2)
		is_called();
	__asm__("" : : "r" (begins));
	return 0;
}
