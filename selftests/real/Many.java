// SPDX-License-Identifier: GPL-2.0

import java.util.Random;

/** Calls 6,000 methods, each once, says "ready", and then calls them at random until it is killed. */
public class Many {
	static volatile long sum;

	public static void main(String[] args) {
		Random random = new Random(1);

		for (int i = 0; i < 200 * 30; i++)
			sum += Parts.all[i / 30].call(i % 30, i);
		System.out.println("ready");
		while (true)
			sum += Parts.all[random.nextInt(200)].call(random.nextInt(30), sum);
	}
}
