# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# shellcheck disable=SC2154 # real.sh sets what is shared
#
# Node.js (node.js): JavaScript and native frames in one chain to main.

# A name is "JS:*jsLeaf FILE:LINE:COLUMN" or "LazyCompile:~jsLeaf FILE...", the mark
# being the compiler's that made the code.
node_names='^[A-Za-z]+:[*~^+]?(js[A-Za-z]+) '
# Inlined, a function has no frame of its own; nor has one that the interpreter
# runs with no copy of its code.
node_options=(--interpreted-frames-native-stack --no-turbo-inlining --max-inlined-bytecode-size=0
	--max-maglev-inlined-bytecode-size=0)

# Options that this node does not know would end it.
node_known()
{
	local option known=()

	for option in "${node_options[@]}"; do
		node "$option" -e 0 > /dev/null 2>&1 && known+=("$option")
	done
	node_options=("${known[@]}")
}

# What V8 calls on its own, to collect garbage and to compile, may stand above any function:
# such chains are not exact. A sample in a builtin that has no frame yet is guessed.
test_node()
{
	need nodejs node "Node.js" || return
	node_known
	# V8 names its code itself: perf leaves its own names out.
	record node.data --no-interpreter-frames node --perf-basic-prof "${node_options[@]}" "$real/node.js" 4
	# Threads that collect garbage and compile have none of the functions.
	exact "Node.js, --perf-basic-prof" node.data --table "$real/node.js" --name "$node_names" \
		--around 100 --min-exact 95 --min-root 95
	complete "Node.js, --perf-basic-prof" node.data 100 90
	walked "Node.js, --perf-basic-prof" node.data 50
	forget_maps node.data
	# Where the machine has no huge pages for it the code stays where it is.
	record huge.data node --use-largepages=on "$real/node.js" 3
	complete "Node.js, --use-largepages" huge.data 100 90
	# Its loops end in a builtin that goes on to another one with a frame of its own.
	record loops.data node --jitless "$real/node.js" 3
	complete "Node.js, loops without a JIT" loops.data 100 99
	# V8's code of an endless loop has no path to a return.
	record forever.data timeout 3 node -e 'const table = new Map();
		for (;;) { for (let i = 0; i < 1000; i++) table.set("k" + i, [i, { i }].map(x => x)); table.clear() }'
	complete "Node.js, a loop without an end" forever.data 100 98
	record server.data node "$real/node-server.js" 6
	complete "Node.js, a server" server.data 100 90

	record jit.data --no-interpreter-frames -k mono node --perf-prof "${node_options[@]}" "$real/node.js" 2
	builds "perf inject --jit" "$perf" inject --jit -i jit.data -o jitted.data || return
	cp jit.data.log jitted.data.log
	exact "Node.js, --perf-prof and perf inject --jit" jitted.data --table "$real/node.js" \
		--name "$node_names" --around 100 --min-exact 95 --min-root 95
	rm -f jit-*.dump jitted-*.so
}
