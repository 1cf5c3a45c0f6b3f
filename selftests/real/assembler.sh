# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# shellcheck disable=SC2154 # real.sh sets what is shared
#
# Programs whose inner loops are in assembler, most of it without CFI and some without
# symbols: where its caller is, only the code tells. Of encoders and decoders of video
# 97 % must be known to the outermost frame, of Octave and R 95 %. What is, must be true: the
# run has check-calls judge all that is recorded here.

# assembler NAME PACKAGE COMMAND...: it is recorded.
assembler()
{
	local name=$1 package=$2 count
	shift 2

	need "$package" "$1" "$name" || return
	record "$name.data" "$@"
	count=$(sed -n 's/.*perf record: hybrid: \([0-9]*\) samples.*/\1/p' "$name.data.log")
	[ "${count:-0}" -ge 30 ]
	tap $? "$name is recorded: ${count:-0} samples" "$(tail -n 5 "$name.data.log")"
}

# for_seconds NAME PACKAGE COMMAND: a shell's, which is ended after ten seconds. That is
# long enough for the first samples of threads, whose stacks are not there yet, to be few.
for_seconds()
{
	need "$2" "${4:-$2}" "$1" || return
	record "$1.data" timeout 10 sh -c "$3"
	complete "$1" "$1.data" 100 97
}

# Video without an end, and what decoders make of some of it.
test_video()
{
	local endless='ffmpeg -loglevel error -stream_loop -1 -i clip.y4m'

	need ffmpeg ffmpeg "video" || return
	ffmpeg -loglevel error -y -f lavfi -i testsrc2=size=640x360:rate=30 -t 8 \
		-pix_fmt yuv420p clip.y4m < /dev/null
	ffmpeg -loglevel error -y -t 3 -i clip.y4m -c:v libsvtav1 -preset 10 clip.ivf \
		> /dev/null 2>&1 < /dev/null
	for_seconds video-ffmpeg ffmpeg "$endless -c:v libx264 -f null -"
	for_seconds video-x264 x264 "$endless -f yuv4mpegpipe - |
		x264 --quiet --demuxer y4m -o clip.out -"
	for_seconds video-x265 x265 "$endless -f yuv4mpegpipe - |
		x265 --log-level error --y4m --input - -o clip.out"
	for_seconds video-dav1d dav1d 'while dav1d -q -i clip.ivf -o clip.out --muxer null; do
		:; done'
	for_seconds video-vpx vpx-tools 'while vpxenc --quiet --codec=vp9 --cpu-used=3 \
		-o clip.out clip.y4m; do :; done' vpxenc
	rm -f clip.*
}

# Matrices by OpenBLAS, whose kernels have no CFI and whose callers have stacks of more than
# a dump. Five seconds of CPU, of which the first is Octave's and R's own start.
test_matrices()
{
	cat > matrices.m <<- 'END'
	a = rand(600);
	while cputime < 5
	  b = a * a; c = inv(a); d = svd(a(1:200,1:200)); e = a \ b;
	end
	END
	cat > matrices.R <<- 'END'
	a <- matrix(runif(360000), 600)
	while (sum(proc.time()[1:2]) < 5) {
	  b <- a %*% a; c <- solve(a); d <- svd(a[1:200, 1:200]); e <- solve(a, b)
	}
	END
	if need octave octave-cli "Octave"; then
		record octave.data octave-cli --no-gui -q matrices.m
		complete "Octave" octave.data 500 95
	fi
	if need r-base-core R "R"; then
		record r.data R --vanilla -q -f matrices.R
		complete "R" r.data 500 95
	fi
}

test_assembler()
{
	test_video
	test_matrices
	# A picture that moves, as the encoders want it.
	python3 - <<- 'END' > moving.y4m
	import random
	import sys
	random.seed(15)
	width, height, out = 320, 192, sys.stdout.buffer
	luma = [bytes(random.choices(range(64, 192), k=width)) for _ in range(height)]
	out.write(b"YUV4MPEG2 W%d H%d F25:1 Ip A1:1 C420\n" % (width, height))
	for frame in range(100):
	    out.write(b"FRAME\n")
	    for row in range(height):
	        line = luma[(row // 8 + frame // 3) % height]
	        out.write(line[frame % width:] + line[:frame % width])
	    out.write(bytes([128]) * (width * height // 2))
	END
	assembler x265 x265 x265 --input moving.y4m -o moving.hevc
	assembler x264 x264 x264 --preset slow -o moving.264 moving.y4m
	assembler ffmpeg ffmpeg ffmpeg -loglevel error -y -i moving.y4m -c:v libx264 moving.mp4
	need ffmpeg ffmpeg "dav1d" || return
	ffmpeg -loglevel error -y -i moving.y4m -c:v libsvtav1 moving.ivf > /dev/null 2>&1
	assembler dav1d dav1d sh -c 'for i in 1 2 3 4 5 6; do
		dav1d -q -i moving.ivf -o /dev/null --muxer null; done'
	if /usr/bin/python3 -c 'import numpy' 2> /dev/null; then
		cat > matrices.py <<- 'END'
		import numpy
		a = numpy.random.rand(600, 600)
		for i in range(8):
		    a @ a, numpy.linalg.inv(a), numpy.linalg.svd(a[:120, :120])
		END
		assembler openblas /usr/bin/python3 /usr/bin/python3 matrices.py
	else
		tap_skip "openblas" "no numpy: it is in Debian's package python3-numpy"
	fi
	assembler gawk gawk gawk -M 'BEGIN { PREC = 2000
		for (i = 1; i < 60000; i++) s += sqrt(i) * i
		f = 1; for (i = 1; i < 9000; i++) f *= i
		print s, f }'
	assembler convert imagemagick convert-im6.q16 -size 900x700 plasma:red-blue -blur 0x4 \
		-resize 70% -rotate 20 picture.jpg
	assembler jpeg imagemagick convert-im6.q16 picture.jpg -resize 300% -quality 90 large.jpg
}
