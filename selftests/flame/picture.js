// SPDX-License-Identifier: GPL-2.0
// A screenshot of a flame graph page after a search.
//
// usage: node picture.js PAGE PNG TERM	(NODE_MODULES= has playwright-core)
"use strict";

const { browser, open, search } = require("./page.js");

async function main()
{
	const [file, png, term] = process.argv.slice(2);
	const chrome = await browser();
	const page = await open(chrome, file, { width: 1500, height: 100 });

	await search(page, term);
	await page.evaluate(() => document.activeElement.blur());
	await page.screenshot({ path: png, fullPage: true });
	await chrome.close();
}

main().catch((error) => {
	console.error(`picture: ${error.message.split("\n")[0]}`);
	process.exit(1);
});
