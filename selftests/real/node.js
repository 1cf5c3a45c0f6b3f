// SPDX-License-Identifier: GPL-2.0
// JavaScript that is compiled while it runs; native frames below it (the start of
// node) and above it (a sort, a regular expression, JSON).
'use strict';

let sum = 0;

// TRUTH: jsLeaf jsMid
function jsLeaf(n) {
	let at = 0;

	for (let i = 0; i < 2000; i++)
		at = (at * 31 + i ^ n) | 0;
	return at;
}

// TRUTH: jsMid jsTop
function jsMid(n) {
	return jsLeaf(n) + 1;
}

// TRUTH: jsTop jsWork
function jsTop(n) {
	return jsMid(n) + jsMid(n + 1);
}

// TRUTH: jsOrder jsSort via tail
function jsOrder(a, b) {
	return (jsOrderLeaf(a, b) | 0) - 1;
}

// TRUTH: jsOrderLeaf jsOrder
function jsOrderLeaf(a, b) {
	for (let i = 0; i < 20; i++)
		sum = (sum + i) | 0;
	return a - b;
}

// TRUTH: jsSort jsWork libc
function jsSort() {
	const table = [];

	for (let i = 0; i < 200; i++)
		table.push(i * 7919 % 251);
	table.sort(jsOrder);
	return table[3];
}

// TRUTH: jsText jsWork libc
function jsText() {
	return JSON.stringify(JSON.parse('{"a": [1, 2, 3, {"b": "text"}]}')).length;
}

// TRUTH: jsWork jsMain
function jsWork(n) {
	sum = (sum + jsTop(n)) | 0;
	if (n % 20 === 0)
		sum = (sum + jsSort()) | 0;
	sum = (sum + jsText()) | 0;
}

// TRUTH: jsMain @start libc
function jsMain() {
	const end = Date.now() + 1000 * process.argv[2];

	for (let n = 0; Date.now() < end; n++)
		jsWork(n);
}

jsMain();
