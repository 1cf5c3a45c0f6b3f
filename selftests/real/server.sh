# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# shellcheck disable=SC2154 # real.sh sets what is shared
#
# Servers that run already, sampled with -p under load: PostgreSQL under pgbench,
# nginx, redis. They listen on sockets below out/selftests/real or on ports that
# the kernel picks.

# free_port: one that nobody has now.
free_port()
{
	python3 -c 'import socket
s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

# as_user COMMAND...: PostgreSQL refuses to run as root.
as_user()
{
	if [ "$(id -u)" -eq 0 ]; then
		runuser -u nobody -- env PATH="$PATH" HOME=/nonexistent "$@"
	else
		"$@"
	fi
}

server_postgres()
{
	local bin db

	bin=$(find /usr/lib/postgresql/*/bin -name postgres 2> /dev/null | sort | tail -n 1)
	if [ -z "$bin" ]; then
		tap_skip "PostgreSQL under pgbench" "no postgres: it is in Debian's package postgresql"
		return
	fi
	bin=${bin%/*}
	db=$(mktemp -d) && chmod 777 "$db"
	if ! as_user "$bin/initdb" -D "$db/data" -A trust > initdb.log 2>&1; then
		tap 1 "PostgreSQL under pgbench" "$(tail -n 5 initdb.log)"
		return
	fi
	as_user "$bin/pg_ctl" -D "$db/data" -w -l "$db/log" -o "-k $db -c listen_addresses=''" \
		start > initdb.log 2>&1
	as_user createdb -h "$db" bench
	as_user pgbench -h "$db" -i -q bench > initdb.log 2>&1
	as_user pgbench -h "$db" -c 4 -T 5 bench > pgbench.log 2>&1 &
	sleep 1
	record postgres.data -p "$(pgrep -d, -f "postgres.*bench|postgres.*-D $db" | tr -d ' ')" -- sleep 3
	complete "PostgreSQL under pgbench (-p)" postgres.data 100 99.5
	wait $!
	as_user "$bin/pg_ctl" -D "$db/data" -m immediate stop > /dev/null 2>&1
	rm -rf "$db"
}

server_nginx()
{
	local port

	need nginx nginx "nginx" || return
	need apache2-utils ab "nginx under ab" || return
	port=$(free_port)
	mkdir -p www && seq 2000 > www/index.html && chmod 755 . www
	cat > nginx.conf <<- END
	worker_processes 2; pid $work/nginx.pid; error_log $work/nginx.log;
	events { worker_connections 256; }
	http { access_log off; gzip on; gzip_types *;
		server { listen 127.0.0.1:$port; root $work/www; } }
	END
	nginx -c "$work/nginx.conf" 2> nginx.out || { tap 1 "nginx starts" "$(cat nginx.out)"; return; }
	sleep 0.5
	ab -q -t 5 -n 10000000 -c 8 -H 'Accept-Encoding: gzip' "http://127.0.0.1:$port/index.html" > ab.log 2>&1 &
	sleep 1
	record nginx.data -p "$(pgrep -d, -P "$(cat nginx.pid)")" -- sleep 3
	complete "nginx under load (-p)" nginx.data 100 99.5
	kill $! 2> /dev/null
	kill "$(cat nginx.pid)"
}

server_redis()
{
	local port pid load

	need redis-server redis-server "redis" || return
	port=$(free_port)
	redis-server --port "$port" --save '' --io-threads 2 --dir "$work" > redis.log 2>&1 &
	pid=$!
	sleep 0.5
	redis-benchmark -p "$port" -q -n 100000000 -t set,get,lpush,zadd > /dev/null 2>&1 &
	load=$!
	sleep 0.5
	record redis.data -p $pid -- sleep 3
	complete "redis under load (-p, threads)" redis.data 100 99.5
	{ kill $load $pid; wait $load $pid; } 2> /dev/null
}

test_server()
{
	server_postgres
	server_nginx
	server_redis
}
