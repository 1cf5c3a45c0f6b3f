// SPDX-License-Identifier: GPL-2.0
// A loop in main(), which is compiled while it runs, and methods below it.

public class Loop {
	static int leaf(int n)
	{
		int sum = 0;

		for (int i = 0; i < n; i++)
			sum = sum * 31 + i;
		return sum;
	}

	static int middle(int n)
	{
		int sum = 0;

		for (int i = 0; i < 5; i++)
			sum += leaf(n + i);
		return sum;
	}

	static int deeper(int depth, int n)
	{
		return depth > 0 ? deeper(depth - 1, n) + 1 : middle(n);
	}

	public static void main(String[] args)
	{
		long end = System.currentTimeMillis() + 1000L * Integer.parseInt(args[0]);
		int sum = 0;

		while (System.currentTimeMillis() < end)
			sum += deeper(10, 1000);
		System.out.println(sum);
	}
}
