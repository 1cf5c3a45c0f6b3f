// SPDX-License-Identifier: GPL-2.0
// An HTTP server and its clients, in one process, for some seconds.
'use strict';

const http = require('http');
const end = Date.now() + 1000 * Number(process.argv[2]);
const server = http.createServer(answer);
const agent = new http.Agent({ keepAlive: true, maxSockets: 8 });
let answered = 0;

function answer(request, response)
{
	const rows = [];

	for (let i = 0; i < 50; i++)
		rows.push({ i, text: 'x'.repeat(i) });
	response.setHeader('content-type', 'application/json');
	response.end(JSON.stringify({ url: request.url, rows }));
}

function ask()
{
	if (Date.now() > end) {
		server.close();
		agent.destroy();
		return;
	}
	http.get({ port: server.address().port, path: '/' + answered++, agent }, response => {
		response.on('data', () => {});
		response.on('end', ask);
	}).on('error', () => {});
}

server.listen(0, '127.0.0.1', () => {
	for (let i = 0; i < 8; i++)
		ask();
});
