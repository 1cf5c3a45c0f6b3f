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

test_java()
{
	local java name

	need openjdk-17-jdk-headless javac "Java" || return
	builds "Java" javac --release 17 -d . "$real/Loop.java" "$real/Methods.java" ||
		return
	for java in /usr/lib/jvm/*/bin/java; do
		[ -L "${java%/bin/java}" ] && continue
		name=$(basename "${java%/bin/java}")
		methods "Java, $name" "$java"
	done
	methods "Java, by default" java
	walked "Java, by default" methods.data 75
	java_report
	methods "Java, interpreted" java -Xint
	walked "Java, interpreted" methods.data 90
	# The JVM says of code between two places that it knows only which the next one is, and which
	# call of deep() that is in: one chain in fifty has one too few.
	min_exact=92 methods "Java, the first compiler alone" java -XX:TieredStopAtLevel=1
	methods "Java, the Z collector" java -XX:+UseZGC

	methods "Java, frame pointers" java -XX:+PreserveFramePointer
	# The loop in main() is compiled soon, so that no frame of the interpreter is left.
	record loop.data java -XX:Tier3BackEdgeThreshold=1000 -XX:Tier4BackEdgeThreshold=2000 \
		-cp . Loop 5
	complete "Java, a loop" loop.data 100 95
	walked "Java, a loop" loop.data 75
}
