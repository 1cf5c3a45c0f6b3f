// SPDX-License-Identifier: GPL-2.0
/**
 * Java: compiled, interpreted and native frames. What stands behind TRUTH: is for
 * check-chains.
 */
public class Chain {
	static long sum;

	// TRUTH: leaf mid
	static long leaf(long n) {
		long at = 0;

		for (int i = 0; i < 3000; i++)
			at = at * 31 + (i ^ n);
		return at;
	}

	// TRUTH: mid top
	static long mid(long n) {
		return leaf(n) + 1;
	}

	// TRUTH: top work
	static long top(long n) {
		return mid(n) + 2;
	}

	interface Shape {
		long area(long n);
	}

	static class Square implements Shape {
		// TRUTH: area work via tail
		public long area(long n) {
			return areaLeaf(n) + 1;
		}

		// TRUTH: areaLeaf area
		long areaLeaf(long n) {
			long at = n;

			for (int i = 0; i < 1000; i++)
				at = at * 17 + i;
			return at;
		}
	}

	// TRUTH: copy work libc
	static void copy(byte[] from, byte[] to) {
		for (int i = 0; i < 20; i++)
			System.arraycopy(from, 0, to, 0, from.length);
	}

	// Its callers are interpreted, and named Interpreter.
	// TRUTH: work @thread libc
	static void work(long n, Shape shape, byte[] from, byte[] to) {
		sum += top(n);
		sum += shape.area(n);
		copy(from, to);
	}

	static void run(double seconds) {
		long end = System.nanoTime() + (long)(seconds * 1e9);
		byte[] from = new byte[4000], to = new byte[4000];
		Shape shape = new Square();

		for (long n = 0; System.nanoTime() < end; n++)
			work(n, shape, from, to);
	}

	public static void main(String[] args) throws Exception {
		double seconds = Double.parseDouble(args[0]);

		run(seconds);
		// The map of what was compiled, /tmp/perf-PID.map.
		new ProcessBuilder("jcmd", "" + ProcessHandle.current().pid(),
				   "Compiler.perfmap").inheritIO().start().waitFor();
	}
}
