// SPDX-License-Identifier: GPL-2.0
/*
 * A program that ends soon, in 150 ms of CPU time. Its functions have names that V8 stores in
 * several ways, and positions after characters that are not ASCII: é € 😀.
 */
'use strict';

class Basket {
	constructor(size) { this.size = size; }
	fill() {
		let sum = 0;

		for (let i = 0; i < this.size; i++)
			sum += Math.sqrt(i);
		return sum;
	}
}

const words = {
	'größe €': function (size) { return new Basket(size).fill(); },
};

function used() { return process.cpuUsage().user; }
function main()
{
	const end = used() + 150000;

	while (used() < end)
		words['größe €'](5000);
}

main();
