# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# shellcheck disable=SC2154 # real.sh sets what is shared
#
# The start of a browser: many threads, some of which raise their own priority, and 200 MB of
# code without CFI that is all new. Frame pointers lead from one of its frames to the next,
# and are known to be right by the calls.

test_browser()
{
	need chromium chromium "a browser's start" || return
	echo '<p>One page.' > page.html
	record browser.data chromium --headless --no-sandbox --disable-gpu \
		--user-data-dir="$PWD/browser" --screenshot="$PWD/page.png" "file://$PWD/page.html"
	guessed_is_right=1 complete "a browser's start" browser.data 300 95
	rm -rf browser page.html page.png
}
