# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# shellcheck disable=SC2154 # real.sh sets what is shared
#
# Java (Chain.java): OpenJDK with frame pointers and a perf map.

# The interpreter's frames are all named Interpreter: methods are compiled before
# they first run, and not inlined. main() is called once, from native code.
java_options=(-XX:+PreserveFramePointer -Xcomp -XX:-TieredCompilation -XX:-Inline
	-XX:CompileCommand=quiet -XX:CompileOnly=Chain -Xshare:auto)

test_java()
{
	need openjdk-17-jdk-headless javac "Java" || return
	builds "Java" javac -d . "$real/Chain.java" "$real/Loop.java" || return
	record java.data -k mono java "${java_options[@]}" -cp . Chain 2
	# Threads that compile and collect garbage have none of the functions.
	exact "Java, compiled" java.data --table "$real/Chain.java" \
		--name '(?:Chain|Square)[.:]+([a-zA-Z]+)' --around 200 --min-exact 95 --min-root 95
	# The interpreter pushes return addresses that no call stands before: what is behind one
	# is marked. The virtual machine's own start has stacks that are deeper than the dump.
	guessed_is_right=1 complete "Java, compiled" java.data 100 95
	record mixed.data -k mono java -XX:+PreserveFramePointer -cp . Chain 2
	guessed_is_right=1 complete "Java, as it starts: interpreted, then compiled" mixed.data \
		100 95
	# The loop in main() is compiled soon, so that no frame of the interpreter is left.
	record loop.data -k mono java -XX:+PreserveFramePointer -XX:Tier3BackEdgeThreshold=1000 \
		-XX:Tier4BackEdgeThreshold=2000 -cp . Loop 5
	complete "Java, a loop" loop.data 100 75
	walked "Java, a loop" loop.data 75
	forget_maps java.data mixed.data loop.data
}
