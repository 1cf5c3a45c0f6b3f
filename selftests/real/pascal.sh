# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# shellcheck disable=SC2154 # real.sh sets what is shared
#
# Free Pascal, with local arrays of 8 KB: dumps of 8 KiB are too small, perf's own are not.

test_pascal()
{
	need fp-compiler fpc "Free Pascal" || return
	cat > arrays.pas <<- 'END'
	program arrays;
	uses sysutils;
	type
	  TItems = array[0..1999] of longint;
	var
	  stop: TDateTime;

	procedure sort(var items: TItems; low, high: longint);
	var
	  i, j, pivot, other: longint;
	begin
	  i := low; j := high; pivot := items[(low + high) div 2];
	  repeat
	    while items[i] < pivot do inc(i);
	    while items[j] > pivot do dec(j);
	    if i <= j then begin
	      other := items[i]; items[i] := items[j]; items[j] := other;
	      inc(i); dec(j);
	    end;
	  until i > j;
	  if low < j then sort(items, low, j);
	  if i < high then sort(items, i, high);
	end;

	procedure fill(depth: longint);
	var
	  items: TItems;
	  i: longint;
	begin
	  for i := 0 to 1999 do items[i] := random(100000);
	  if depth > 0 then fill(depth - 1) else sort(items, 0, 1999);
	end;

	begin
	  stop := now + 2 / 86400;
	  while now < stop do fill(2);
	end.
	END
	builds "arrays" fpc -O1 -g -v0 -oarrays arrays.pas || return
	record pascal.data ./arrays
	complete "Free Pascal" pascal.data 100 99
	# shellcheck disable=SC2016 # the symbols have it
	ok "Free Pascal: all calls, from the start" has_chain pascal.data \
		'^(P\$ARRAYS_\$\$_SORT[^>]*>)+(P\$ARRAYS_\$\$_FILL[^>]*>){3}(main|PASCALMAIN)>SYSTEM_[^>]*>[^>]*FPC_PROC_START>$'
	builds "arrays, stripped" fpc -O2 -Xs -v0 -ostripped arrays.pas || return
	record stripped.data ./stripped
	complete "Free Pascal, stripped" stripped.data 100 99
}
