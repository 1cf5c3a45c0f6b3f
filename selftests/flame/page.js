// SPDX-License-Identifier: GPL-2.0
// A page of scripts/flamegraph in headless Chromium: opens it without a network
// and tells what is in it.
"use strict";

const path = require("node:path");
const url = require("node:url");
const { chromium } = require(path.join(process.env.NODE_MODULES, "playwright-core"));

async function browser()
{
	return chromium.launch({
		executablePath: process.env.CHROMIUM || "/usr/bin/chromium",
		// Tests run as root, for whom Chromium has no sandbox.
		args: process.getuid() === 0 ? ["--no-sandbox"] : [],
	});
}

// The page, and in page.noise all that it should not have said or asked for.
async function open(chrome, file, size = { width: 1500, height: 620 })
{
	const context = await chrome.newContext({ viewport: size, reducedMotion: "reduce" });
	const page = await context.newPage();
	const own = url.pathToFileURL(path.resolve(file)).href;

	page.noise = [];
	page.on("console", (message) => page.noise.push(`console: ${message.text()}`));
	page.on("pageerror", (error) => page.noise.push(`error: ${error.message}`));
	page.on("request", (request) => {
		if (request.url() !== own && !request.url().startsWith("data:"))
			page.noise.push(`request: ${request.url()}`);
	});
	await context.setOffline(true);
	await page.goto(own);
	await settled(page);
	return page;
}

// Every frame is as wide as it is to be, then no chart moves any more. On a busy
// machine the same picture twice alone is one that never began to move.
async function settled(page)
{
	const look = () => page.evaluate(() =>
		[...document.querySelectorAll(".frame")].map((frame) =>
			frame.getAttribute("transform") + frame.querySelector("rect").getAttribute("width") +
			frame.querySelector(".d3-flame-graph-label").textContent).join());
	let before;

	await page.waitForFunction(() =>
		[...document.querySelectorAll(".frame")].every((frame) => {
			const rect = frame.querySelector("rect");
			const label = frame.querySelector(".d3-flame-graph-label");

			return Math.abs(frame.getAttribute("width") - rect.getAttribute("width")) < 0.01 &&
				label.textContent === frame.getAttribute("name");
		}), null, { timeout: 60000 });
	for (let now = await look(); now !== before; now = await look()) {
		before = now;
		await page.waitForTimeout(300);
	}
}

async function search(page, term)
{
	await page.fill("#term", term);
	await page.press("#term", "Enter");
	await settled(page);
}

// What is drawn of one graph: name, where, found or not, and all callers.
async function frames(page, graph)
{
	return page.evaluate((id) => {
		const drawn = [...document.querySelectorAll(`#${id} .frame`)];

		return drawn.map((frame) => {
			const rect = frame.querySelector("rect");
			const node = d3.select(frame).datum();
			const callers = node.ancestors().slice(1).map((one) => one.data.n);

			return {
				name: node.data.n, callers, found: Boolean(node.highlight),
				samples: node.data.v, width: Number(rect.getAttribute("width")),
				fill: rect.getAttribute("fill"),
				label: frame.querySelector(".d3-flame-graph-label").textContent,
			};
		});
	}, graph);
}

async function click(page, graph, name)
{
	await page.locator(`#${graph} .frame[name="${name}"] rect`).first().click();
	await settled(page);
}

module.exports = { browser, open, settled, search, frames, click };
