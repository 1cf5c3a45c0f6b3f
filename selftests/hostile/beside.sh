# shellcheck shell=bash disable=SC2034,SC2154
# SPDX-License-Identifier: GPL-2.0
#
# A program that means harm, and beside it an honest one whose chains are judged. Sourced; $dir has
# deep60.nofp, and an empty directory away. $after is called after each recording.

# MiB: 300 and the rings. Honest programs take less, and the files claim much more.
memory=$((300 + 64 * $(nproc)))

# beside TEXT OPTION... -- COMMAND...: that runs all the time, and the honest program in it.
beside()
{
	local text=$1 options=() said status=0
	shift
	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	shift
	# shellcheck disable=SC2016 # that shell's
	said=$(PERF_CONFIG=/dev/null "$hostile/ends" 4 $memory "$perf" record "${rings[@]}" \
		-e cpu-clock -F 1000 -N --call-graph hybrid -o "$dir/data" "${options[@]}" -- \
		sh -c 'honest=$1; shift; "$@" & "$honest" 2; sleep 600' \
		sh "$dir/deep60.nofp" "$@" 2> "$dir/log") || status=1
	tap $status "$text: $said" "$(tail -n 3 "$dir/log")"
	pkill -x -f "$dir/hostile.*"
	pkill -x -f "$dir/many.*"
	pkill -x -f "$dir/fifo.*"
	${after:-:}
	# The judge, and perf script, read all of the files that they find.
	mv "$dir"/*.so "$dir/away/"
	status=0
	said=$("$truth/check-chains" --perf "$perf" -v --comm deep60.nofp --min-exact 99.9 \
		--max-lost 0 "$dir/data" 2>&1) || status=1
	tap $status "$text: chains of the other: $(head -n 1 <<< "$said")" \
		"$(head -n 20 <<< "$said")"
	mv "$dir/away"/*.so "$dir/"
}
