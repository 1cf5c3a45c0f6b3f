// SPDX-License-Identifier: GPL-2.0

/**
 * Strings that differ late: C2 pushes a register before it compares them, and pops it after that.
 */
public class Compared {
	static volatile long sum;

	static long compare(String[] all) {
		long at = 0;

		for (String one : all)
			for (String other : all)
				at += one.compareTo(other);
		return at;
	}

	public static void main(String[] args) {
		long end = System.nanoTime() + (long)(Double.parseDouble(args[0]) * 1e9);
		String[] all = new String[64];

		for (int i = 0; i < all.length; i++)
			all[i] = "the same for a while, ".repeat(4) + i;
		while (System.nanoTime() < end)
			sum += compare(all);
	}
}
