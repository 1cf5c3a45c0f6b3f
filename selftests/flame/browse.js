// SPDX-License-Identifier: GPL-2.0
// The flame graphs of make demo as a person uses them. TAP.
//
// usage: node browse.js DIRECTORY ODD DIFF PICTURES
//
// DIRECTORY has the pages of scripts/demo, ODD is one with names that are hard
// to show and a chain of 1,000 frames, DIFF has those of a difference; screenshots
// go to PICTURES.
// NODE_MODULES= is where playwright-core is.
"use strict";

const { browser, open, settled, search, frames, click } = require("./page.js");

const [directory, odd, diff, pictures] = process.argv.slice(2);
let number = 0;
let failed = 0;

function ok(good, text, detail = "")
{
	number++;
	console.log(`${good ? "ok" : "not ok"} ${number} - ${text}`);
	if (good)
		return;
	failed++;
	for (const line of String(detail).split("\n"))
		console.log(`# ${line}`);
}

async function quiet(page, name)
{
	ok(!page.noise.length, `${name}: no error, no message, no request`, page.noise.join("\n"));
}

// How many samples a search found, and how many of them with that caller.
async function below(page, graph, term, caller)
{
	const count = (some) => some.reduce((sum, frame) => sum + frame.samples, 0);

	await search(page, term);
	const found = (await frames(page, graph)).filter((frame) => frame.found);
	const under = found.filter((frame) => frame.callers.some((name) => name.includes(caller)));
	return { found: count(found), under: count(under) };
}

const MODES = { fp: false, dwarf: true, hybrid: true };

async function searching(page, mode)
{
	const { found, under } = await below(page, mode, "compare_keys", "qsort");
	const said = await page.textContent(`#${mode} .found`);
	const text = `${found} samples, ${under} of them under qsort; ${said}`;

	// dwarf cuts off a chain in some thousands.
	if (MODES[mode])
		ok(found > 0 && under >= found * 0.99, `${mode}: compare_keys is found, under qsort`, text);
	else
		ok(under === 0, `${mode}: compare_keys is nowhere under qsort`, text);
	ok(/^“compare_keys” is in [\d,]+ samples, [\d.]+ %$/.test(said),
		`${mode}: how many samples were found is said`, said);
	ok((await frames(page, mode)).every((frame) => frame.found === (frame.fill === "#d55e00")),
		`${mode}: what was found is coloured, and nothing else`);
	await page.click("#clear");
	ok((await frames(page, mode)).every((frame) => !frame.found) &&
		await page.textContent(`#${mode} .found`) === "", `${mode}: clearing the search`);
}

function widthOf(all, name)
{
	return Math.max(0, ...all.filter((frame) => frame.name === name).map((frame) => frame.width));
}

async function zooming(page, mode)
{
	const before = await frames(page, mode);
	const whole = widthOf(before, "all");

	ok(before.some((frame) => frame.label === "join_equal"), `${mode}: labels are there`);
	await click(page, mode, "join_equal");
	const zoomed = await frames(page, mode);
	ok(Math.abs(widthOf(zoomed, "join_equal") - whole) < 1 &&
		widthOf(before, "join_equal") < whole / 2, `${mode}: a click zooms in`,
		`${widthOf(before, "join_equal")} before, ${widthOf(zoomed, "join_equal")} after, of ${whole}`);
	ok(widthOf(zoomed, "make_key") < 1, `${mode}: what is elsewhere is out of sight`);
	await page.screenshot({ path: `${pictures}/${mode}-zoomed.png` });
	await page.click("#reset");
	await settled(page);
	const again = await frames(page, mode);
	ok(Math.abs(widthOf(again, "join_equal") - widthOf(before, "join_equal")) < 1,
		`${mode}: and out again`);
}

async function single(chrome, mode)
{
	const page = await open(chrome, `${directory}/${mode}.html`);

	ok((await frames(page, mode)).length > 5, `${mode}: frames are drawn`);
	await searching(page, mode);
	await zooming(page, mode);
	await quiet(page, mode);
	await page.context().close();
}

async function sideBySide(chrome)
{
	const page = await open(chrome, `${directory}/index.html`);
	const places = [];

	await search(page, "compare_keys");
	for (const mode of Object.keys(MODES)) {
		const box = await page.locator(`#${mode} svg`).boundingBox();
		const facts = await page.textContent(`#${mode} .facts`);

		places.push(box);
		ok(/[\d.]+ % exact, [\d,]+ bytes a sample/.test(facts),
			`index: ${mode} has its figures`, facts);
		ok(/compare_keys/.test(await page.textContent(`#${mode} .found`)),
			`index: one search is for ${mode}, too`);
	}
	const floor = places.map((box) => Math.round(box.y + box.height));
	ok(places[0].x + places[0].width < places[1].x && places[1].x + places[1].width < places[2].x &&
		new Set(floor).size === 1, "index: side by side on one floor", JSON.stringify(places));
	await page.screenshot({ path: `${pictures}/index.png` });
	await quiet(page, "index");
	await page.setViewportSize({ width: 420, height: 800 });
	await settled(page);
	const [first, second, over] = await page.evaluate(() => [
		document.getElementById("fp").getBoundingClientRect().bottom,
		document.getElementById("dwarf").getBoundingClientRect().top,
		document.documentElement.scrollWidth - window.innerWidth]);
	const widest = widthOf(await frames(page, "fp"), "all");
	ok(second >= first && over <= 0 && widest > 300 && widest < 400,
		"index: one below the other in a narrow window", `${first} ${second} ${over} ${widest}`);
	await page.screenshot({ path: `${pictures}/narrow.png` });
	await page.context().close();
}

async function oddNames(chrome)
{
	const page = await open(chrome, odd);
	const all = await frames(page, "odd");
	const names = new Set(all.map((frame) => frame.name));

	for (const name of ["operator()<int>", "</script><b>", "@DATA@", "a&amp;b"])
		ok(names.has(name), `odd: ${name} is shown as it is`, [...names].slice(0, 20).join("\n"));
	ok(all.filter((frame) => frame.name === "recurse").length === 1000, "odd: 1,000 frames deep");
	await search(page, "(");
	ok((await frames(page, "odd")).filter((frame) => frame.found).length === 1,
		"odd: a search for what is no pattern");
	await quiet(page, "odd");
	await page.context().close();
}

// What selftests/flame/run says that perf script says of the two files.
const CHANGES = { steady: "#f7f7f7", grown: "#dd7d13", fallen: "#cdc9e4" };

async function difference(chrome)
{
	const page = await open(chrome, `${diff}/index.html`);

	for (const graph of ["before", "after"]) {
		const all = await frames(page, graph);
		const wrong = Object.keys(CHANGES).filter((name) =>
			all.find((frame) => frame.name === name).fill !== CHANGES[name]);

		ok(!wrong.length, `diff: ${graph} has the colours of the change`,
			JSON.stringify(all.map((frame) => [frame.name, frame.fill])));
		await page.locator(`#${graph} .frame[name="grown"] rect`).hover();
		const said = await page.textContent(`#${graph} .details`);
		ok(said === (graph === "after" ? "grown: 60 samples, 30.0 %; 10.0 % before" :
			"grown: 10 samples, 10.0 %; 30.0 % after"), `diff: ${graph} says both shares`, said);
	}
	ok((await frames(page, "after")).find((frame) => frame.name === "added").fill === "#fdcb92",
		"diff: what is new has grown");
	const legend = await page.textContent(".legend");
	const shown = await page.locator(".legend li:visible").allTextContents();
	ok(shown.length === 4 && legend.includes("a larger share after"), "diff: the legend is its own",
		shown.join());
	await page.screenshot({ path: `${pictures}/diff.png` });
	await quiet(page, "diff");
	await page.context().close();
}

async function main()
{
	const chrome = await browser();

	for (const mode of Object.keys(MODES))
		await single(chrome, mode);
	await sideBySide(chrome);
	await oddNames(chrome);
	await difference(chrome);
	await chrome.close();
}

main().catch((error) => ok(false, "the browser", error.stack)).finally(() => {
	console.log(`1..${number}`);
	process.exit(failed ? 1 : 0);
});
