// SPDX-License-Identifier: GPL-2.0
// A program whose functions have one caller each, which their names tell.
//
// usage: truth.js SECONDS
//
// p_NAME_of_CALLER is called by JavaScript, c_NAME_of_CALLER by V8's own code that CALLER has
// called, and l_NAME_of_CALLER by JavaScript of Node.js, or of nobody: each has CALLER as the next
// function of this file. r_NAME_of_CALLER calls itself, too. selftests/python/judge compares
// chains with that.
'use strict';

const { Worker, isMainThread, workerData } = require('worker_threads');

let sum = 0;

function p_spin_of_loop(n) {
	let at = n;

	for (let i = 0; i < 20000; i++)
		at = (at * 31 + i) | 0;
	return at;
}

function p_loop_of_round(n) {
	return p_spin_of_loop(n) + p_spin_of_loop(n + 1);
}

function r_down_of_recursion(depth) {
	let at = depth;

	if (depth)
		return r_down_of_recursion(depth - 1) + 1;
	for (let i = 0; i < 10000; i++)
		at ^= i;
	return at;
}

function p_recursion_of_round() {
	return r_down_of_recursion(60);
}

function p_inner_of_order(a, b) {
	for (let i = 0; i < 20; i++)
		sum = (sum + i) | 0;
	return a - b;
}

function c_order_of_sort(a, b) {
	return p_inner_of_order(a, b) | 0;
}

function p_sort_of_round() {
	const table = [];

	for (let i = 0; i < 200; i++)
		table.push(i * 7919 % 251);
	table.sort(c_order_of_sort);
	return table[3];
}

function c_revive_of_json(key, value) {
	return typeof value === 'number' ? value + 1 : value;
}

function p_json_of_round() {
	const list = [];

	for (let i = 0; i < 60; i++)
		list.push({ a: i, b: [i, i, i] });
	return JSON.parse(JSON.stringify(list), c_revive_of_json).length;
}

function c_match_of_replace(text) {
	return String(3 * text);
}

function p_replace_of_round() {
	return '1 22 333 4444 '.repeat(30).replace(/[0-9]+/g, c_match_of_replace);
}

function c_map_of_array(x) {
	let at = x;

	for (let i = 0; i < 30; i++)
		at = (at * 17 + i) & 0xffff;
	return at;
}

function c_reduce_of_array(a, b) {
	return (a * 31 + b) & 0xffff;
}

function p_array_of_round() {
	return Array.from({ length: 300 }, (_, i) => i).map(c_map_of_array)
		.reduce(c_reduce_of_array, 0);
}

function p_work_of_produce(n) {
	let at = n;

	for (let i = 0; i < 300; i++)
		at = (at + i * i) | 0;
	return at;
}

function* c_produce_of_consume() {
	for (let i = 0; i < 40; i++)
		yield p_work_of_produce(i);
}

function p_consume_of_round() {
	let total = 0;

	for (const i of c_produce_of_consume())
		total = (total + i) | 0;
	return total;
}

class Thing {
	constructor(n) {
		this.items = [];
		this.p_fill_of_Thing(n);
	}

	p_fill_of_Thing(n) {
		for (let i = 0; i < 400; i++)
			this.items.push(i * n);
	}

	get p_size_of_object() {
		let at = 0;

		for (let i = 0; i < this.items.length; i++)
			at = (at + this.items[i]) | 0;
		return at;
	}
}

function p_object_of_round(n) {
	return new Thing(n).p_size_of_object;
}

function p_closure_of_round(n) {
	const p_inner_of_closure = function (k) {
		let at = n;

		for (let i = 0; i < 2000; i++)
			at = (at + i * k) | 0;
		return at;
	};

	return p_inner_of_closure(3);
}

const p_made_of_text = new Function('n', `
	let at = n;

	for (let i = 0; i < 3000; i++)
		at = (at * 5 + i) | 0;
	return at;
`);

// The name of a function that is made of text is "anonymous": that of the one it calls tells.
const text = eval(`(function p_text_of_round(n) {
	let at = n;

	for (let i = 0; i < 3000; i++)
		at = (at * 7 + i) | 0;
	return at;
})`);

function p_new_of_round(n) {
	return p_made_of_text(n);
}

async function p_leaf_of_task(n) {
	let at = n;

	for (let i = 0; i < 3000; i++)
		at = (at + i) | 0;
	return at;
}

async function l_task_of_tasks() {
	for (let i = 0; i < 3; i++)
		sum = (sum + await p_leaf_of_task(i)) | 0;
}

function l_tasks_of_root() {
	return Promise.all([1, 2, 3, 4].map(l_task_of_tasks));
}

// Too long to be inlined, unlike its caller: V8 has no frame for that.
function p_long_of_short(n) {
	let at = n;

	for (let i = 0; i < 20; i++) {
		at = (at * 3 + i) | 0; at = (at * 5 + i) | 0; at = (at * 7 + i) | 0; at = (at * 9 + i) | 0;
		at = (at * 11 + i) | 0; at = (at * 13 + i) | 0; at = (at * 15 + i) | 0; at = (at * 17 + i) | 0;
		at = (at * 19 + i) | 0; at = (at * 21 + i) | 0; at = (at * 23 + i) | 0; at = (at * 3 + i) | 0;
		at = (at * 5 + i) | 0; at = (at * 7 + i) | 0; at = (at * 9 + i) | 0; at = (at * 11 + i) | 0;
		at = (at * 13 + i) | 0; at = (at * 15 + i) | 0; at = (at * 17 + i) | 0; at = (at * 19 + i) | 0;
		at = (at * 21 + i) | 0; at = (at * 23 + i) | 0; at = (at * 3 + i) | 0; at = (at * 5 + i) | 0;
		at = (at * 7 + i) | 0; at = (at * 9 + i) | 0; at = (at * 11 + i) | 0; at = (at * 13 + i) | 0;
		at = (at * 15 + i) | 0; at = (at * 17 + i) | 0; at = (at * 19 + i) | 0; at = (at * 21 + i) | 0;
		at = (at * 23 + i) | 0; at = (at * 3 + i) | 0; at = (at * 5 + i) | 0; at = (at * 7 + i) | 0;
		at = (at * 9 + i) | 0; at = (at * 11 + i) | 0; at = (at * 13 + i) | 0; at = (at * 15 + i) | 0;
		at = (at * 17 + i) | 0; at = (at * 19 + i) | 0; at = (at * 21 + i) | 0; at = (at * 23 + i) | 0;
	}
	return at;
}

function p_short_of_inline(n) {
	return p_long_of_short(n) + 1;
}

function p_inline_of_round(n) {
	let at = n;

	for (let i = 0; i < 10; i++)
		at = (at + p_short_of_inline(i)) | 0;
	return at;
}

function p_round_of_run(n) {
	p_loop_of_round(n);
	p_recursion_of_round();
	p_sort_of_round();
	p_json_of_round();
	p_replace_of_round();
	p_array_of_round();
	p_consume_of_round();
	p_object_of_round(n);
	p_closure_of_round(n);
	p_new_of_round(n);
	p_inline_of_round(n);
	text(n);
}

function p_run_of_root(end) {
	for (let n = 0; Date.now() < end; n++)
		p_round_of_run(n);
}

function p_busy_of_thread(n) {
	let at = n;

	for (let i = 0; i < 30000; i++)
		at = (at + (i & 3) * n) | 0;
	return at;
}

function l_thread_of_root(end) {
	for (let n = 0; Date.now() < end; n++)
		sum = (sum + p_busy_of_thread(n)) | 0;
}

// V8's code of an endless loop has no path to a return.
function l_forever_of_root() {
	const table = new Array(256).fill(0);

	for (let n = 0;; n++) {
		const pair = { at: table[n & 255], n };

		table[(n * 7) & 255] = (pair.at * 31 + pair.n) | 0;
	}
}

async function l_main_of_root(end) {
	while (Date.now() < end) {
		p_run_of_root(Math.min(end, Date.now() + 50));
		await l_tasks_of_root();
	}
}

if (isMainThread) {
	const end = Date.now() + 1000 * process.argv[2];

	new Worker(__filename, { workerData: end });
	new Worker(__filename, { workerData: 0 });
	l_main_of_root(end).then(() => process.exit());
} else if (workerData) {
	l_thread_of_root(workerData);
} else {
	l_forever_of_root();
}
