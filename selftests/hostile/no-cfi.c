// SPDX-License-Identifier: GPL-2.0
/* Runs until it is killed, in functions that have no CFI. */

volatile long sum;

__attribute__((noipa)) static long leaf(long n)
{
	for (long i = 0; i < n; i++)
		sum += i;
	return sum;
}

__attribute__((noipa)) static long caller(long n)
{
	return leaf(n) + 1;
}

int main(void)
{
	for (;;)
		caller(100000);
}
