// SPDX-License-Identifier: GPL-2.0

import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongUnaryOperator;
import java.util.stream.LongStream;

/**
 * Java as it runs by default: each method has one caller. What stands behind TRUTH: is for
 * check-chains. The JVM may interrupt any method, to compile or to collect garbage: so "libc"
 * stands with all.
 */
public class Methods {
	static volatile long sum;
	static final Object lock = new Object();

	// TRUTH: leaf mid libc
	static long leaf(long n) {
		long at = 0;

		for (int i = 0; i < 3000; i++)
			at = at * 31 + (i ^ n);
		return at;
	}

	// TRUTH: mid top libc
	static long mid(long n) {
		return leaf(n) + 1;
	}

	// TRUTH: top work libc
	static long top(long n) {
		return mid(n) + 2;
	}

	// A call that the compiler can't bind: four classes.
	interface Shape {
		long area(long n);
	}

	static class Square implements Shape {
		// TRUTH: areaSquare area libc
		static long areaSquare(long n) {
			long at = n;

			for (int i = 0; i < 500; i++)
				at = at * 17 + i;
			return at;
		}

		// TRUTH: area shapes libc
		public long area(long n) {
			return areaSquare(n) + 1;
		}
	}

	static class Circle implements Shape {
		// TRUTH: areaCircle area libc
		static long areaCircle(long n) {
			long at = n;

			for (int i = 0; i < 500; i++)
				at = at * 19 + i;
			return at;
		}

		public long area(long n) {
			return areaCircle(n) + 1;
		}
	}

	static class Line implements Shape {
		public long area(long n) {
			return n;
		}
	}

	static class Point implements Shape {
		public long area(long n) {
			return 0;
		}
	}

	static final Shape[] all = { new Square(), new Circle(), new Line(), new Point() };

	// TRUTH: shapes work libc
	static long shapes(long n) {
		long at = 0;

		for (Shape shape : all)
			at += shape.area(n);
		return at;
	}

	// TRUTH: deepest deep libc
	static long deepest(long n) {
		long at = n;

		for (int i = 0; i < 1000; i++)
			at = at * 13 + i;
		return at;
	}

	// TRUTH: deep work libc depth=40
	static long deep(int more, long n) {
		return more > 1 ? deep(more - 1, n) + 1 : deepest(n);
	}

	// TRUTH: mapped streams libc via
	static long mapped(long n) {
		long at = n;

		for (int i = 0; i < 100; i++)
			at = at * 11 + i;
		return at;
	}

	// TRUTH: streams work libc
	static long streams(long n) {
		return LongStream.range(n, n + 10).map(Methods::mapped).sum();
	}

	// TRUTH: thrower catcher libc
	static long thrower(long n) {
		long at = n;

		for (int i = 0; i < 300; i++)
			at = at * 7 + i;
		if (at != 0)
			throw new IllegalStateException();
		return at;
	}

	// TRUTH: catcher work libc
	static long catcher(long n) {
		try {
			return thrower(n);
		} catch (IllegalStateException e) {
			return n;
		}
	}

	// TRUTH: locked work libc
	static long locked(long n) {
		synchronized (lock) {
			long at = n;

			for (int i = 0; i < 500; i++)
				at = at * 5 + i;
			return at;
		}
	}

	// TRUTH: copies work libc
	static void copies(byte[] from, byte[] to) {
		for (int i = 0; i < 20; i++)
			System.arraycopy(from, 0, to, 0, from.length);
	}

	// TRUTH: garbage work libc
	static int garbage(int n) {
		List<int[]> list = new ArrayList<>();

		for (int i = 0; i < 50; i++)
			list.add(new int[64]);
		return list.size();
	}

	// TRUTH: loaded loads libc via
	// A class of a loader of its own, which goes with it.
	public static class Loaded implements LongUnaryOperator {
		static long loaded(long n) {
			long at = n;

			for (int i = 0; i < 2000; i++)
				at = at * 3 + i;
			return at;
		}

		public long applyAsLong(long n) {
			return loaded(n);
		}
	}

	static class Loader extends ClassLoader {
		Class<?> define(byte[] code) {
			return defineClass("Methods$Loaded", code, 0, code.length);
		}
	}

	// TRUTH: loads work libc
	static long loads(byte[] code, long n) throws Exception {
		LongUnaryOperator made = (LongUnaryOperator)new Loader().define(code)
			.getDeclaredConstructor().newInstance();

		return made.applyAsLong(n);
	}

	// TRUTH: work run libc
	static void work(long n, byte[] from, byte[] to, byte[] code) throws Exception {
		sum += top(n);
		sum += shapes(n);
		sum += deep(40, n);
		sum += streams(n);
		sum += catcher(n);
		sum += locked(n);
		copies(from, to);
		sum += garbage((int)n);
		if (n % 50 == 0)
			sum += loads(code, n);
	}

	// TRUTH: run @thread libc
	static void run(double seconds, byte[] code) {
		long end = System.nanoTime() + (long)(seconds * 1e9);
		byte[] from = new byte[4000], to = new byte[4000];

		try {
			for (long n = 0; System.nanoTime() < end; n++)
				work(n, from, to, code);
		} catch (Exception e) {
			throw new RuntimeException(e);
		}
	}

	public static void main(String[] args) throws Exception {
		double seconds = Double.parseDouble(args[0]);
		InputStream file = Methods.class.getResourceAsStream("Methods$Loaded.class");
		byte[] code = file.readAllBytes();
		Thread other = new Thread(() -> run(seconds, code));

		other.start();
		run(seconds, code);
		other.join();
	}
}
