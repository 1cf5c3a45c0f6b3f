# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# shellcheck disable=SC2154 # real.sh sets what is shared
#
# Java as it runs by default (Methods.java): compiled, inlined, interpreted and native methods
# by name.

java_names=(--table "$real/Methods.java" --name '^Methods(?:\$\w+)?\.(\w+)$')

# methods TEXT JAVA OPTIONS...: Methods.java, judged by the names that perf gives.
methods()
{
	local text=$1
	shift
	record methods.data "$@" -cp . Methods 4
	# Of the JVM's threads, which compile and collect garbage, there may be more samples.
	exact "$text" methods.data "${java_names[@]}" --around 500 \
		--min-exact "${min_exact:-97}" --min-root "${min_exact:-97}"
	complete "$text" methods.data 100 97
}

# What perf report shows of a Java program: names, and few frames without.
java_report()
{
	local said

	said=$("$perf" report -i methods.data --stdio --no-children -g none --sort sym,srcline \
		2> /dev/null)
	grep -q 'Methods\.leaf .*Methods\.java:[0-9]' <<< "$said"
	tap $? "Java: perf report has the method and its line" "$(head -n 30 <<< "$said")"
	said=$("$perf" record --no-interpreter-frames -e cpu-clock -F 1000 --call-graph hybrid \
		-o plain.data java -cp . Methods 1 2>&1)
	! "$perf" script -i plain.data -F ip,sym 2> /dev/null | grep -q ' Methods\.'
	tap $? "Java: --no-interpreter-frames leaves the addresses" "$said"
}

# What the JVM's own tools say of the same run: JFR's samples, and jstack's stacks.
java_witnesses()
{
	local said pid

	need openjdk-17-jdk-headless jfr "Java: JFR and jstack" || return
	java -XX:StartFlightRecording=filename=witness.jfr,settings=profile -cp . Methods 8 \
		> witness.out 2>&1 &
	pid=$!
	for _ in {1..8}; do
		sleep 0.5
		jstack "$pid" 2> /dev/null
	done > witness.jstack &
	record witness.data -p "$pid"
	wait
	jfr print --events jdk.ExecutionSample --stack-depth 64 witness.jfr > witness.samples
	said=$("$real/java-witness" --perf "$perf" --min-shares 60 --min-chains 95 \
		witness.data witness.samples)
	tap $? "Java and JFR: $(head -n 1 <<< "$said")" "$said"
	said=$("$real/java-witness" --perf "$perf" --min-samples 4 --min-chains 80 \
		witness.data witness.jstack)
	tap $? "Java and jstack: $(head -n 1 <<< "$said")" "$said"
}

# Classes with 6,000 methods, which Many calls at random.
many_methods()
{
	awk 'BEGIN {
		print "interface Part { long call(int i, long n); }"
		print "class Parts { static final Part[] all = {"
		for (i = 0; i < 200; i++)
			print "new Part" i "(),"
		print "}; }"
		for (i = 0; i < 200; i++) {
			print "class Part" i " implements Part {"
			for (j = 0; j < 30; j++)
				print "static long m" j "(long n) { for (int i = 0; i < 90; i++)" \
					" n = n * 31 + i; return n + " j "; }"
			print "public long call(int i, long n) { switch (i) {"
			for (j = 0; j < 30; j++)
				print "case " j ": return m" j "(n) + 1;"
			print "default: return 0; } } }"
		}
	}'
}

# Methods that samples have not met before are known to the walk in the kernel, too.
java_many()
{
	local pid

	many_methods > Parts.java
	builds "Java, many methods" javac --release 17 -d . "$real/Many.java" Parts.java || return
	java -Xcomp -XX:TieredStopAtLevel=1 -XX:CompileCommand=quiet \
		-XX:CompileCommand=compileonly,Part*::* -XX:CompileCommand=dontinline,Part*::* \
		-cp . Many > many.out 2>&1 &
	pid=$!
	for _ in {1..600}; do
		! grep -qs ready many.out || break
		sleep 0.1
	done
	record many.data -p "$pid" -- sleep 4
	kill "$pid"
	wait "$pid" 2> /dev/null
	complete "Java, many methods" many.data 100 95
	walked "Java, many methods" many.data 85
}

test_java()
{
	local java name

	need openjdk-17-jdk-headless javac "Java" || return
	builds "Java" javac --release 17 -d . "$real/Compared.java" "$real/Loop.java" \
		"$real/Methods.java" || return
	for java in /usr/lib/jvm/*/bin/java; do
		[ -L "${java%/bin/java}" ] && continue
		name=$(basename "${java%/bin/java}")
		methods "Java, $name" "$java"
	done
	methods "Java, by default" java
	walked "Java, by default" methods.data 75
	java_report
	java_witnesses
	java_many
	methods "Java, interpreted" java -Xint
	walked "Java, interpreted" methods.data 90
	methods "Java, the first compiler alone" java -XX:TieredStopAtLevel=1
	methods "Java, the Z collector" java -XX:+UseZGC

	methods "Java, frame pointers" java -XX:+PreserveFramePointer
	# The loop in main() is compiled soon, so that no frame of the interpreter is left.
	record loop.data java -XX:Tier3BackEdgeThreshold=1000 -XX:Tier4BackEdgeThreshold=2000 \
		-cp . Loop 5
	complete "Java, a loop" loop.data 100 95
	walked "Java, a loop" loop.data 75
	record compared.data java -cp . Compared 5
	complete "Java, strings compared" compared.data 100 95
	walked "Java, strings compared" compared.data 75
}
