# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# Part of selftests/fleet/run: the units under a systemd of their own, in a container whose
# system is this machine's; what is written there is forgotten. They are installed by the
# commands of the document.
# shellcheck disable=SC2154 # run sets $here, $work, $perf, $truth and $port

system=$work/system
written=$work/written
# nspawn's own filter of system calls knows no perf events.
nspawn=(env SYSTEMD_SECCOMP=0 SYSTEMD_NSPAWN_UNIFIED_HIERARCHY=1 systemd-nspawn -q --register=no
	--keep-unit --link-journal=no --capability=all -D "$system" --console=pipe)

# missing_for_systemd: what there is no container without, in words; nothing if all is there.
missing_for_systemd()
{
	if [ "$EUID" -ne 0 ]; then
		echo "it takes root"
	elif ! command -v systemd-nspawn > /dev/null; then
		echo "no systemd-nspawn: scripts/setup test"
	elif ! mount_system 2> /dev/null; then
		echo "no overlay mounts here"
	elif ! "${nspawn[@]}" true < /dev/null > /dev/null 2>&1; then
		echo "systemd-nspawn starts no container here"
	fi
}

mount_system()
{
	mountpoint -q "$system" && return
	mkdir -p "$system" "$written" && mount -t tmpfs tmpfs "$written" &&
		mkdir "$written/upper" "$written/work" &&
		mount -t overlay -o "lowerdir=/,upperdir=$written/upper,workdir=$written/work" overlay "$system"
}

# Nothing is started of what this machine has enabled.
install_units()
{
	local commands

	rm -rf "$system"/etc/systemd/system/*.wants
	: > "$system/etc/fstab"
	tr -d - < /proc/sys/kernel/random/uuid > "$system/etc/machine-id"
	install "$perf" "$system/usr/bin/perf" || return
	mkdir -p "$system/project" && cp -r "$here/fleet" "$system/project/" || return
	install "$truth/calls.nofp" "$system/project/program" || return
	commands=$(sed -n 's/^    \(install .*fleet.*\)/\1/p' "$here/Documentation/fleet.md")
	[ "$(wc -l <<< "$commands")" -eq 3 ] || { echo "$commands"; return 1; }
	chroot "$system" bash -ec "cd /project; $commands
		sed -i 's|^PROFILE_URL=.*|PROFILE_URL=$PROFILE_URL|' /etc/perf-profile.conf
		systemctl -q enable perf-profile-record perf-profile-send"
}

start_systemd()
{
	"${nspawn[@]}" --boot -- --unit=multi-user.target < /dev/null > "$work/nspawn.log" 2>&1 &
	echo $! > "$work/nspawn.pid"
	until_true units_run || { cat "$work/nspawn.log"; journal; return 1; }
}

# The container's first process.
leader() { pgrep -o -P "$(cat "$work/nspawn.pid")"; }
inside() { nsenter -t "$(leader)" -a "$@"; }
journal() { inside journalctl --no-pager -o cat -u perf-profile-record -u perf-profile-send; }
units_run() { inside systemctl -q is-active perf-profile-record perf-profile-send; }
property() { inside systemctl show -P "$2" "perf-profile-$1"; }

# The unit counts as started before perf has its handlers: till then the signal ends it.
handles_alarm()
{
	local caught

	caught=$(inside sed -n 's/^SigCgt:[[:space:]]*/0x/p' "/proc/$(property record MainPID)/status") &&
		((caught & 1 << (14 - 1)))
}

# A signal has perf begin another file: nobody waits for the minute to be over.
has_sent()
{
	inside systemctl kill -s ALRM --kill-whom=main perf-profile-record
	sleep 2
	journal > "$work/journal"
	grep -q ': sent ' "$work/journal"
}

# None was ended by what its unit forbids, and the program is in what arrives.
units_send()
{
	inside /project/program 1000 > /dev/null 2>&1 &
	until_true handles_alarm && until_true has_sent || { journal; return 1; }
	[ ! -e "$work/engine/wrong" ] || { cat "$work/engine/wrong"; return 1; }
	[ "$(property record NRestarts) $(property send NRestarts)" = "0 0" ] ||
		{ echo "started again: $(property record NRestarts) $(property send NRestarts)"; journal; return 1; }
	until_true has_program || { journal; return 1; }
	inside pkill -f /project/program
}

# In the newest profile.
has_program()
{
	local profiles

	inside systemctl kill -s ALRM --kill-whom=main perf-profile-record
	sleep 2
	profiles=("$work"/engine/*.pb.gz)
	go tool pprof -traces -symbolize=none "${profiles[-1]}" > "$work/traces" 2> /dev/null &&
		grep -qE ' (level[1-5]|recurse)$' "$work/traces"
}

restarted() { [ "$(property "$1" NRestarts)" -ge 1 ] && units_run; }

# The unit's control group can't be killed as a whole in a container of a machine that has
# cgroups of version 1.
kill_main() { inside systemctl kill -s KILL --kill-whom=main "perf-profile-$1"; }

units_restart()
{
	kill_main record && until_true restarted record && kill_main send && until_true restarted send ||
		{ journal; return 1; }
}

stop_systemd()
{
	local pid

	if [ -e "$work/nspawn.pid" ]; then
		read -r pid < "$work/nspawn.pid"
		rm "$work/nspawn.pid"
		# Twice: at once.
		kill "$pid" 2> /dev/null && sleep 0.5 && kill "$pid" 2> /dev/null
		wait "$pid" 2> /dev/null
	fi
	# What still ends there keeps it busy.
	umount -l "$system" 2> /dev/null
	umount -l "$written" 2> /dev/null
	return 0
}
