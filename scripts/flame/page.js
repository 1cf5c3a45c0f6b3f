// SPDX-License-Identifier: GPL-2.0
"use strict";

// Chosen to stay apart for colour-blind eyes; a found frame is darker than all.
const COLOURS = {
	program: ["#f4c04e", "#f9d687", "#edb02c"],
	library: ["#8cc8ee", "#aedaf5", "#6fb7e6"],
	kernel: ["#b9b9b9", "#cccccc", "#a8a8a8"],
	unknown: ["#ffffff", "#ffffff", "#ffffff"],
};
// Of a difference: what grew, what fell, each from faint to full, and what did neither.
const MORE = ["#fee8cf", "#fdcb92", "#f5a34a", "#dd7d13"];
const LESS = ["#e9e7f3", "#cdc9e4", "#ada5d0", "#9186bd"];
const SAME = "#f7f7f7";
const FOUND = "#d55e00";
const FOUND_IN_DIFF = "#009e73";
const STILL = matchMedia("(prefers-reduced-motion: reduce)").matches;
const charts = [];

// One of three shades by name, so that neighbours can be told apart.
function colour(node)
{
	const name = node.data.n;
	let sum = 0;

	if (node.highlight)
		return FOUND;
	for (let i = 0; i < name.length; i++)
		sum = (sum * 31 + name.charCodeAt(i)) % 9973;
	return COLOURS[node.data.l][sum % 3];
}

function share(part, whole)
{
	return `${(100 * part / whole).toFixed(1)} %`;
}

// By how much a call's share of all samples grew from the earlier file to the later.
function growth(node, graph)
{
	const change = node.data.v / graph.tree.v - node.data.o / graph.other.samples;

	return graph.other.later ? change : -change;
}

// Full from a tenth of all samples on; below half a percent there is no colour.
function colourOfDiff(node, graph)
{
	const change = growth(node, graph);
	const shades = change > 0 ? MORE : LESS;
	const step = [0.005, 0.02, 0.05, 0.1].filter((least) => Math.abs(change) >= least).length;

	if (node.highlight)
		return FOUND_IN_DIFF;
	return step ? shades[step - 1] : SAME;
}

function describe(node, graph)
{
	const text = `${node.data.n}: ${node.data.v.toLocaleString("en")} samples, ` +
		share(node.data.v, graph.tree.v);

	if (!graph.other)
		return text;
	return `${text}; ${share(node.data.o, graph.other.samples)} ` +
		(graph.other.later ? "before" : "after");
}

// Plain text, in any case: a name such as "operator()" is no pattern.
function matches(node, term)
{
	return Boolean(term) && node.data.n.toLowerCase().includes(term.toLowerCase());
}

function element(parent, name, cls, text)
{
	const made = document.createElement(name);

	made.className = cls;
	made.textContent = text || "";
	parent.append(made);
	return made;
}

// Names and values in turn: the values in bold.
function addFacts(parent, facts)
{
	const line = element(parent, "p", "facts");

	facts.forEach(([value, name], i) => {
		if (i)
			line.append(", ");
		element(line, "b", "", value);
		line.append(` ${name}`);
	});
}

function draw(graph, parent)
{
	const section = element(parent, "section", "");
	const total = graph.tree.v;

	section.id = graph.name;
	element(section, "h2", "", graph.title);
	addFacts(section, graph.facts);
	const place = element(section, "div", "chart");
	const found = element(section, "p", "found");
	const details = element(section, "p", "details");
	found.setAttribute("role", "status");
	const chart = flamegraph.default()
		.width(place.clientWidth)
		.cellHeight(19)
		.minFrameSize(1)
		.transitionDuration(STILL ? 0 : 250)
		.sort(true)
		.setColorMapper(graph.other ? (node) => colourOfDiff(node, graph) : colour)
		.setSearchMatch(matches)
		.setLabelHandler((node) => describe(node, graph))
		.setDetailsHandler((text) => { details.textContent = text || ""; });
	chart.setSearchHandler((nodes, sum) => {
		const term = document.getElementById("term").value.trim();

		found.textContent = term ? `“${term}” is in ` +
			`${sum.toLocaleString("en")} samples, ${share(sum, total)}` : "";
	});
	d3.select(place).datum(graph.tree).call(chart);
	const svg = place.querySelector("svg");
	svg.setAttribute("role", "img");
	svg.setAttribute("aria-label", `Flame graph: ${graph.title}`);
	charts.push({ chart, place });
}

function search(event)
{
	if (event)
		event.preventDefault();
	const term = document.getElementById("term").value.trim();
	charts.forEach(({ chart }) => chart.search(term));
}

function clear()
{
	document.getElementById("term").value = "";
	search();
}

function reset()
{
	charts.forEach(({ chart }) => chart.resetZoom());
}

function resize()
{
	charts.forEach(({ chart, place }) => chart.width(place.clientWidth).update());
}

function start()
{
	const graphs = JSON.parse(document.getElementById("data").textContent);
	const parent = document.getElementById("graphs");

	parent.className = ["one", "two"][graphs.length - 1] || "three";
	document.body.className = graphs[0].other ? "diff" : "modes";
	graphs.forEach((graph) => draw(graph, parent));
	document.getElementById("search").addEventListener("submit", search);
	document.getElementById("clear").addEventListener("click", clear);
	document.getElementById("reset").addEventListener("click", reset);
	window.addEventListener("resize", resize);
	document.addEventListener("keydown", (event) => {
		if (event.key === "Escape")
			reset();
	});
}

start();
