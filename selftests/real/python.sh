# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# shellcheck disable=SC2154 # real.sh sets what is shared
#
# Python: an extension module (pymodule.c) that Python calls and that calls Python;
# the interpreter's own frames; Python's names, where its perf support is.

test_python()
{
	local flags

	need python3 python3 "Python" || return
	need libpython3-dev python3-config "Python" || return
	read -r -a flags <<< "$(python3-config --includes)"
	builds "Python" gcc "${cflags[@]}" "${flags[@]}" -shared -fPIC -o pymodule.so "$real/pymodule.c" ||
		return
	cat > program.py <<- 'END'
	import sys, time
	import pymodule

	def back(n):
	    return pymodule.inner(n) + len(str(n))

	end = time.process_time() + float(sys.argv[1])
	while time.process_time() < end:
	    for n in range(200):
	        pymodule.outer(back, n)
	    sorted(str(n) for n in range(200))
	END
	# As it starts its stack is deeper than 8 KiB.
	PYTHONPATH=. mode=hybrid,32768 record python.data python3 program.py 1
	# Half of the time is the interpreter's own: it must reach the outermost frame.
	exact "Python, native frames" python.data --around 300 --min-exact 99.5 --min-root 0
	complete "Python" python.data 100 99.5
	python_functions
	python_short
	python_top
	python_calls
	python_versions
	python_old
	python_sleeps
	python_traced
	python_late
	python_greenlets
	python_embedded
	python_lies
	python_names
}

# Whole chains of functions, by name: fewer than asked of a quiet machine, as the first samples
# come before perf has found the interpreter. BPF reads the functions.
python_functions()
{
	local name="Python's functions" log=functions.data.log

	record functions.data python3 "$here/selftests/python/truth.py" 5
	if ! grep -q '^hybrid: BPF walked' "$log"; then
		tap_skip "$name" "no BPF here"
		return
	fi
	ok "$name" "$here/selftests/python/judge" --min-whole 98 "$perf" functions.data
	without_functions "$name" Python py:: python3 "$here/selftests/python/truth.py" 1
	# Lines 23 to 25 of the program are p_spin_of_loop()'s loop.
	ok "$name: perf script has file and line" has_source_line functions.data \
		py::p_spin_of_loop: 'truth\.py:2[345]$'
	ok "$name: --hide-evaluator leaves out what runs them" hides_evaluator functions.data
}

# The command of perf record, which ends after 30 ms: it has functions from its first sample on. A
# script of it, and a library that the program needs, are found, too.
python_short()
{
	local program=$here/selftests/python/short-truth.py name="Python's functions, 30 ms" path
	local command

	for command in "/usr/bin/python3 $program" "$program"; do
		# shellcheck disable=SC2086 # two words
		hz=8000 record short.data $command
		judged "$name: ${command##*/}" short.data --from-start --min-whole 95
	done
	for path in "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.1[1-4].*/bin/python3; do
		[ -x "$path" ] || continue
		hz=8000 record short.data "$path" "$program"
		judged "$name: $path" short.data --from-start --min-whole 95
	done
}

# perf top resolves samples in a thread of its own, after those that it has read.
python_top()
{
	local name="Python's functions in perf top" pid keeper top i found=1

	if ! grep -q '^hybrid: BPF walked' functions.data.log; then
		tap_skip "$name" "no BPF here"
		return
	fi
	python3 "$here/selftests/python/truth.py" 120 > /dev/null &
	pid=$!
	# It asks for keys; the end of its input would be one.
	mkfifo keys
	sleep 120 > keys &
	keeper=$!
	# perf top -p samples the threads that there are.
	for ((i = 0; i < 600; i++)); do
		[ "$(find "/proc/$pid/task" -mindepth 1 -maxdepth 1 | wc -l)" -lt 2 ] || break
		sleep 0.1
	done
	"$perf" top --call-graph hybrid -e cpu-clock -F 1000 -d 1 --stdio -p "$pid" \
		< keys > top.out 2> top.err &
	top=$!
	for ((i = 0; i < 60 && found; i++)); do
		sleep 1
		! grep -aq 'py::l_thread_of_root:' top.out || found=0
	done
	kill -INT "$top"
	kill "$pid" "$keeper"
	wait "$pid" "$keeper" "$top" 2> /dev/null
	tap "$found" "$name" "$(tail -n 40 top.out)"
	rm -f keys top.out
}

# judged NAME DATA [OPTION]: by the judge, where BPF walked.
judged()
{
	local name=$1 data=$2

	shift 2
	if ! grep -q '^hybrid: BPF walked' "$data.log"; then
		tap_skip "$name" "no BPF here"
		return
	fi
	ok "$name" "$here/selftests/python/judge" --min-whole 98 "$@" "$perf" "$data"
	rm -f "$data"
}

# Ways by which C code calls Python, and processes that fork.
python_calls()
{
	record calls.data python3 "$here/selftests/python/calls-truth.py" 4
	judged "Python's functions: calls from C" calls.data
	record threads.data python3 "$here/selftests/python/threads-truth.py" 4
	judged "Python's functions: threads that end" threads.data
	record nameless.data python3 "$here/selftests/python/calls-truth.py" 2 nameless
	judged "Python's functions: code without a file" nameless.data
	record entry.data python3 "$here/selftests/python/entry-truth.py" 4
	judged "Python's functions: calls from C, many" entry.data
}

# imported NAME PYTHON [OPTION]: modules that are imported all the time, at the same addresses.
imported()
{
	local name="$1: imports" path=$2

	shift 2
	hz=8000 record imports.data "$path" "$here/selftests/python/imports-truth.py" 3
	judged "$name" imports.data "$@"
}

# python_of VERSION: path of an interpreter; pyenv has those that Debian has not.
python_of()
{
	local path

	command -v "/usr/bin/python$1" && return
	for path in "${PYENV_ROOT:-$HOME/.pyenv}/versions/$1".*/bin/python3; do
		[ ! -x "$path" ] || { echo "$path"; return 0; }
	done
	return 1
}

python_versions()
{
	local version path name options

	for version in 3.8 3.9 3.10 3.11 3.12 3.13 3.14; do
		name="Python $version's functions"
		if ! path=$(python_of "$version"); then
			tap_skip "$name" "no python$version here"
			continue
		fi
		options=()
		case $version in 3.8 | 3.9 | 3.10) options=(--own-frames) ;; esac
		record version.data "$path" "$here/selftests/python/truth.py" 3
		judged "$name" version.data "${options[@]}"
		record version.data "$path" "$here/selftests/python/calls-truth.py" 3
		judged "$name: calls from C" version.data "${options[@]}"
		# What the evaluator does when it begins and ends is much of it.
		record version.data "$path" "$here/selftests/python/entry-truth.py" 2
		judged "$name: calls from C, many" version.data "${options[@]}" --min-whole 93
		imported "$name" "$path" "${options[@]}"
		python_interpreters "$version" "$path" "${options[@]}"
	done
}

# Versions whose functions can't be read: perf says so. What it records is the evaluator's own.
python_old()
{
	local version path name

	for version in 2.7 3.6 3.7; do
		name="Python $version can't be read"
		path=${PYENV_ROOT:-$HOME/.pyenv}/versions/$version
		path=$(compgen -G "$path.*/bin/python" | head -n 1)
		if [ -z "$path" ] || ! grep -q '^hybrid: BPF walked' functions.data.log; then
			tap_skip "$name" "no python$version or no BPF here"
			continue
		fi
		record old.data "$path" -c 'for i in range(20000000): pass'
		ok "$name: perf says so" grep "^hybrid: the runtime of 1 processes .* can't be read" \
			old.data.log
		rm -f old.data
	done
	name="PyPy can't be read"
	if ! command -v pypy3 > /dev/null || ! grep -q '^hybrid: BPF walked' functions.data.log; then
		tap_skip "$name" "no pypy3 or no BPF here"
		return
	fi
	record old.data pypy3 -c 'for i in range(20000000): pass'
	ok "$name: perf says so" grep "^hybrid: the runtime of 1 processes .* can't be read" \
		old.data.log
	rm -f old.data
}

# A chain through two interpreters has the functions of both.
python_interpreters()
{
	local name="Python $1's functions in several interpreters" path=$2

	shift 2
	record inner.data "$path" "$here/selftests/python/interpreters-truth.py" 3
	if ! grep -q '^hybrid: BPF walked' inner.data.log; then
		tap_skip "$name" "no BPF here"
		return
	fi
	ok "$name are there" has_inner inner.data
	judged "$name" inner.data "$@"
}

has_inner()
{
	"$perf" script -i "$1" -F ip,sym 2> /dev/null | grep -q 'py::p_spin_of_loop:inner-truth.py'
}

# Functions that sleep.
python_sleeps()
{
	record sleeps.data --off-cpu --off-cpu-thresh 1 python3 \
		"$here/selftests/python/sleep-truth.py" 3
	judged "Python's functions that sleep" sleeps.data
}

# Samples that the kernel writes: page faults, one by one. Some kernels refuse the program.
python_traced()
{
	local name="Python's functions in page faults"

	event=page-faults record traced.data -c 1 python3 "$here/selftests/python/truth.py" 3
	if ! grep -q '^hybrid: BPF walked' traced.data.log ||
	   grep -q '^hybrid: samples with dumps have no functions' traced.data.log; then
		tap_skip "$name" "the kernel takes no such BPF program"
		return
	fi
	ok "$name" "$here/selftests/python/judge" --min-whole 95 "$perf" traced.data
	rm -f traced.data
}

# perf reads nothing of a process while that runs: names are in the records.
python_late()
{
	local path

	path=$(python3 -c 'import os, sys; print(os.path.realpath(sys.executable))')
	ln -s "$path" late
	cat > late.sh <<- 'END'
	python3 "$1" 1
	kill -STOP "$PPID"
	./late "$1" 1
	kill -CONT "$PPID"
	END
	record late.data sh late.sh "$here/selftests/python/truth.py"
	judged "Python's functions of a process that has ended" late.data --comm late
}

python_greenlets()
{
	local name="Python's greenlets"

	if ! /usr/bin/python3 -c 'import greenlet' 2> /dev/null; then
		tap_skip "$name" "no python3-greenlet here"
		return
	fi
	record green.data /usr/bin/python3 "$here/selftests/python/greenlet-truth.py" 3
	judged "$name" green.data
}

# A program that has CPython in it: in a library, and in itself.
python_embedded()
{
	local kind library flags link version

	version=$(/usr/bin/python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])')
	read -r -a flags <<< "$(python3-config --includes)"
	library=/usr/lib/x86_64-linux-gnu/libpython$version
	for kind in so a; do
		link=("$library.$kind")
		[ "$kind" = so ] || link+=(-no-pie -rdynamic -lexpat -lz -lm -ldl)
		if [ ! -e "$library.$kind" ]; then
			tap_skip "Python in a program: $kind" "no $library.$kind here"
			continue
		fi
		builds "embedded, $kind" gcc -O2 -Wall -Wextra "${flags[@]}" -o "embedded-$kind" \
			"$here/selftests/python/embedded.c" "${link[@]}" || continue
		record embedded.data "./embedded-$kind" "$here/selftests/python/truth.py" 3
		judged "Python in a program: $kind" embedded.data
	done
	python_beside_perl "$library.so" "${flags[@]}"
}

# python_beside_perl LIBPYTHON FLAGS: a program that has another interpreter mapped, as vim has.
python_beside_perl()
{
	local name="Python in a program that has Perl's library, too" python=$1
	local perl=(/usr/lib/x86_64-linux-gnu/libperl.so.*)

	shift
	if [ ! -e "$python" ] || [ ! -e "${perl[0]}" ]; then
		tap_skip "$name" "no $python or ${perl[0]} here"
		return
	fi
	builds "embedded, beside Perl" gcc -O2 -Wall -Wextra "$@" -o embedded-beside \
		"$here/selftests/python/embedded.c" -Wl,--no-as-needed "$python" "${perl[0]}" || return
	record embedded.data ./embedded-beside "$here/selftests/python/truth.py" 3
	judged "$name" embedded.data
}

# A process that says it is CPython: perf ends, and its file is small enough.
python_lies()
{
	builds "liar" gcc -O1 -Wall -Wextra -rdynamic -o liar "$here/selftests/python/liar.c" \
		-lpthread || return
	all_lies "Python that lies" _PyEval_EvalFrameDefault circles nowhere names flood
	cat > beside.sh <<- 'END'
	./liar flood 3 &
	python3 "$1" 3
	wait
	END
	record beside.data sh beside.sh "$here/selftests/python/truth.py"
	judged "Python beside one that lies" beside.data --comm python3
}

# own_python: a root directory with the python3 of the next Debian, whose -X perf
# writes a perf map; in $root.
own_python()
{
	root=$out/selftests/python
	own_root "$root" usr/bin/python3.13 python3.13-minimal libpython3.13-minimal libexpat1 zlib1g
}

# Where its map is, perf looks for it: /tmp.
record_python()
{
	cat > "$root/names.py" <<- 'END'
	import sys, time
	import functools

	def leaf(n):
	    return sum(i * i for i in range(n))

	def back(a, b):
	    leaf(20)
	    return (a > b) - (a < b)

	def middle(n):
	    return sorted(range(n), key=functools.cmp_to_key(back))

	end = time.process_time() + float(sys.argv[1])
	while time.process_time() < end:
	    middle(50)
	END
	# shellcheck disable=SC2016 # the inner shell's
	mode=hybrid,16384 record names.data unshare -m sh -c 'mount --bind /tmp "$1/tmp" &&
		exec chroot "$1" /usr/bin/python3.13 -X perf /names.py 1' sh "$root"
}

# Each Python function is called by a trampoline of its own, without frame pointer,
# CFI and file.
python_names()
{
	local name="Python functions by name (-X perf)" root

	if [ "$(id -u)" -ne 0 ]; then
		tap_skip "$name" "only root can chroot"
		return
	fi
	ok "a Python with -X perf" own_python
	root=$out/selftests/python
	ok "$name: recorded" record_python
	ok "$name" has_chain names.data \
		'py::leaf:.*>py::back:.*>py::middle:.*>py::<module>:'
	complete "$name" names.data 100 99
	! grep -q '^hybrid: BPF walked' names.data.log ||
		ok "$name: those that perf has read are the same" \
			"$here/selftests/python/witness" "$perf" names.data
	forget_maps names.data
	# Its libc is another root's: by this one's code no call would stand anywhere.
	rm -f names.data
}
