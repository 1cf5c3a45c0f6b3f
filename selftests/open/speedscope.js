// SPDX-License-Identifier: GPL-2.0
// Opens a text of perf script, or a file of pprof's, in speedscope and prints what its
// table of functions says, once that has one of that name.
//
// usage: node speedscope.js FILE FUNCTION	(NODE_MODULES= has it and playwright-core)
"use strict";

const path = require("node:path");
const url = require("node:url");
const { browser } = require("../flame/page.js");

async function main()
{
	const file = path.join(process.env.NODE_MODULES, "speedscope/dist/release/index.html");
	const chrome = await browser();
	// Only rows that are on the screen are in the page, and functions that only call others
	// are the last: behind all of the kernel's that were met.
	const context = await chrome.newContext({ viewport: { width: 1200, height: 8000 } });
	const page = await context.newPage();

	await context.setOffline(true);
	await page.goto(url.pathToFileURL(file).href);
	await page.setInputFiles("input[type=file]", process.argv[2]);
	await page.getByText("Sandwich").click({ timeout: 300000 });
	await page.getByText(process.argv[3]).first().waitFor({ timeout: 300000 });
	console.log(await page.innerText("body"));
	await chrome.close();
}

main().catch((error) => {
	console.error(`speedscope: ${error.message.split("\n")[0]}`);
	process.exit(1);
});
