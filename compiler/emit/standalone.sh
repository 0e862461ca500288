#!/bin/sh
@HEAD@
#
#   sh FILE start    make the events and turn them on; a failure takes all back
#   sh FILE stop     take everything back
#   sh FILE status   say whether it is on; the exit code is 3 if it is not
#   sh FILE read     print the records and histograms so far
#
# It wants root, a POSIX shell, and cat, mkdir, rmdir, rm, sleep and uname. TRACEFS says
# where tracefs is mounted, if not at a usual place; EP_STATE names a folder for
# what stop must know (else /run, /var/run, /data/local/tmp or /dev).

# shellcheck disable=SC2016 # a '$' in single quotes is the kernel's

set -u
umask 077
name=@NAME@
state=@STATE@
instance=@INSTANCE@
release=@RELEASE@
in=${instance:+instances/$instance/}

say() { printf '%s: %s\n' "$name" "$*" >&2; }

die() {
	say "$@"
	exit 1
}

# enter goes to the root of tracefs.
enter() {
	if [ -n "${TRACEFS-}" ]; then
		cd "$TRACEFS" 2>/dev/null && [ -d events ] && return
		die "no tracefs at $TRACEFS, or it may not be read"
	fi
	for at in /sys/kernel/tracing /sys/kernel/debug/tracing; do
		if [ -d "$at" ] && ! [ -x "$at" ]; then
			die "$at may not be entered: become root"
		fi
		[ -d "$at/events" ] && cd "$at" && return
	done
	while read -r _ at type _; do
		[ "$type" = tracefs ] && cd "$at" 2>/dev/null && [ -d events ] && return
	done </proc/mounts
	die 'no tracefs is mounted: mount -t tracefs tracefs /sys/kernel/tracing'
}

# remember finds the folder of the state: a file for each step that was done,
# with what the step's file held before. A reboot empties tracefs, so the state
# is that of one boot.
remember() {
	boot=$(cat /proc/sys/kernel/random/boot_id 2>/dev/null)
	for at in ${EP_STATE:+"$EP_STATE"} /run /var/run /data/local/tmp /dev; do
		if [ -d "$at" ] && [ -w "$at" ]; then
			state=$(cd "$at" && pwd)/$state
			for old in "$state".*; do
				[ "$old" = "$state.$boot" ] || rm -rf "$old"
			done
			state=$state.$boot
			return
		fi
		[ "$at" = "${EP_STATE-}" ] && die "$at is no folder, or may not be written to"
	done
	die 'no folder to keep the state in: let EP_STATE name one'
}

# put HOW FILE DATA does one write(2): without a line end printf never makes two
# of it, and what a file takes as a command must come whole. Only files of one
# value are set; setting (>) a file of commands would delete everybody's.
put() {
	if [ "$1" = set ]; then
		why=$({ printf %s "$3" >"$2"; } 2>&1)
	else
		why=$({ printf %s "$3" >>"$2"; } 2>&1)
	fi
}

# now FILE prints what to write into a file of one value to have it as it is, or
# nothing if that cannot be known.
now() {
	value=$(cat "$1" 2>/dev/null)
	case $1 in
	*/enable) value=${value%\*} ;;
	*trace_clock)
		value=${value#*\[}
		value=${value%%\]*}
		;;
	*set_event_pid)
		all=
		for pid in $value; do all="$all$pid "; done
		value=$all
		;;
	esac
	case $value in
	none) value=0 ;;
	X) value= ;; # CPUs differ
	*'(expanded: '*) # a buffer that is not in use yet
		value=${value#*: }
		value=${value%)}
		;;
	*'
'*) value= ;;
	esac
	printf %s "$value"
}

# note N HELD writes HELD down as what the file of step N held.
note() {
	printf %s "$2" >"$state/$1" && return
	say "cannot write to $state"
	return 1
}

# keep N FILE notes what a file holds that a trigger is going to change.
keep() { note "$1" "$(now "$2")"; }

# step N PLACE HOW FILE DATA does write N and notes it down before, so that a
# shell that dies meanwhile leaves nothing that stop does not know.
step() {
	held=
	[ "$3" = add ] || held=$(now "$4")
	note "$1" "$held" || return
	put "$3" "$4" "$5" && return
	rm -f "$state/$1"
	refused "$2" "$4" "$5"
	return 1
}

# refused PLACE FILE DATA says which write failed, and what the kernel says of
# it.
refused() {
	say "the kernel refused what $1 became:"
	printf '\t%s\n' "$3" >&2
	say "written to $PWD/$2: $why"
	news "$log" error_log
	[ -z "$in" ] || news "$inlog" "${in}error_log"
}

# news BEFORE FILE prints what a log has more than before.
news() {
	after=$(cat "$2" 2>/dev/null)
	if [ -n "$after" ] && [ "$after" != "$1" ]; then
		case $after in
		"$1"*) after=${after#"$1"} ;;
		*) # it keeps the newest eight
			after="[${after##*
[}" ;;
		esac
		printf '%s\n' "$after" >&2
	fi
}

# back N HOW FILE DATA takes step N back, if it was done: the file gets what it
# held before, or DATA if that is not known.
back() {
	[ -f "$state/$1" ] || return 0
	if [ -e "$3" ]; then
		held=$(cat "$state/$1")
		if ! put "$2" "$3" "${held:-$4}"; then
			say "cannot take back: ${held:-$4}"
			say "written to $PWD/$3: $why"
			return
		fi
	fi
	rm -f "$state/$1"
}

# drop N GROUP/NAME removes the event that step N made, if it did. A trigger that
# was removed may hold its event for a moment longer (Linux 7.2).
drop() {
	[ -f "$state/$1" ] || return 0
	if [ -d "events/$2" ] && ! put add dynamic_events "-:$2" &&
		! { sleep 1 && put add dynamic_events "-:$2"; }; then
		say "cannot remove the event $2: $why"
		return
	fi
	rm -f "$state/$1"
}

steps() {
@STEPS@
}

undo() {
@UNDO@
	if [ -f "$state/instance" ]; then
		if [ -d "$in" ] && ! why=$(rmdir "$in" 2>&1); then
			say "cannot remove the instance $instance: $why"
		else
			rm -f "$state/instance"
		fi
	fi
	rmdir "$state" 2>/dev/null && return
	say "not all is taken back: see $state, and run stop again"
	return 1
}

# fresh makes the instance, if it is not there.
fresh() {
	if [ -n "$in" ] && ! [ -d "$in" ]; then
		: >"$state/instance"
		if ! why=$(mkdir "$in" 2>&1); then
			rm -f "$state/instance"
			say "cannot make the instance $instance: $why"
			return 1
		fi
	fi
}

turn_on() {
@ARCH@	if [ -n "$release" ] && [ "$(uname -r)" != "$release" ]; then
		say "note: this is compiled for $release; here is $(uname -r)"
	fi
	if [ -d "$state" ]; then
		say 'is on already'
		return
	fi
	mkdir "$state" || die 'cannot keep the state'
	log=$(cat error_log 2>/dev/null)
	inlog=$(cat "${in}error_log" 2>/dev/null)
	trap 'undo; exit 1' HUP INT TERM
	if ! fresh || ! steps; then
		undo && say 'everything has been taken back'
		exit 1
	fi
	trap - HUP INT TERM
}

turn_off() {
	if [ -d "$state" ]; then
		undo || exit 1
	fi
}

tell() {
	if ! [ -d "$state" ]; then
		printf '%s is off\n' "$name"
		exit 3
	fi
	set -- @EVENTS@
	for event; do
		if ! [ -d "events/$event" ]; then
			printf '%s is on, but the event %s is gone\n' "$name" "$event"
			exit 1
		fi
	done
	printf '%s is on\n' "$name"
}

# records FILE prints the buffer, or the snapshot. Recording pauses meanwhile:
# printing makes events, and might never come to their end.
records() {
	if [ "$(cat "${in}tracing_on")" = 1 ]; then
		trap 'put set "${in}tracing_on" 1; exit 1' HUP INT TERM PIPE
		put set "${in}tracing_on" 0
		lines <"$in$1"
		put set "${in}tracing_on" 1
		trap - HUP INT TERM PIPE
	else
		lines <"$in$1"
	fi
}

# lines prints the kernel's lines, without its help for a snapshot that is empty.
lines() {
	while IFS= read -r line; do
		case $line in
		'# * Snapshot is '*)
			printf '# none was taken, or it has no records\n'
			return
			;;
		esac
		printf '%s\n' "$line"
		case $line in
		'#'*) ;;
		*) break ;;
		esac
	done
	cat
}

# table NAME FILE [KERNEL LABEL SIGN KIND UNIT]… prints a histogram. For each of
# its values that are: the kernel's name, the script's, s or u for one with a sign or
# without, sum or avg, and the unit. A shell's read would ask the kernel for each byte
# of a table on its own.
table() {
	printf '\n# %s\n' "$1"
	rows=$(cat "$2")
	shift 2
	set -f
	IFS='
'
	for line in $rows; do
		case $line in
		*'} hitcount:'*) row "$@" ;;
		*) printf '%s\n' "$line" ;;
		esac
	done
	unset IFS
	set +f
}

# row prints a row of the kernel's. It has sums only, which are numbers without a
# sign. Text in a key may look like them, so the last place counts.
row() {
	values=${line##*\} hitcount:}
	hits=${values#"${values%%[! ]*}"}
	hits=${hits%% *}
	printf '%s} hitcount: %s' "${line%\} hitcount:*}" "$hits"
	while [ $# -gt 0 ]; do
		n=${values##*" $1: "}
		n=${n#"${n%%[! ]*}"}
		n=${n%% *}
		minus=
		[ "$3" = u ] || below "$n"
		if [ "$4" = avg ]; then average "$n"; fi
		printf '  %s: %s%s%s' "$2" "$minus" "$n" "$5"
		shift 5
	done
	printf '\n'
}

# below N sets minus and n if N is a number below zero, in the kernel's words: one
# of 2^63 or more.
below() {
	[ ${#1} -ge 19 ] || return 0
	high=${1%?????????}
	low=1${1#"$high"}
	if [ "$high" -gt 9223372036 ] || { [ "$high" -eq 9223372036 ] && [ "$low" -ge 1854775808 ]; }; then
		minus=-
		n=$(((18446744073 - high) * 1000000000 + 1709551616 - low))
		n=${n#-} # 2^63 itself is more than shells count to
	fi
}

# average N sets n to N shared among the hits, with two places. Shells count to
# 2^63: what is more stays a fraction.
average() {
	if [ ${#1} -ge 19 ] || [ "$hits" -eq 0 ]; then
		n="$1/$hits "
		return
	fi
	cents=$(($1 % hits * 100 / hits))
	n=$(($1 / hits)).$((cents / 10))$((cents % 10))
}

show() {
	[ -d "$state" ] || die 'is off'
@READ@
}

case ${1-} in
start | stop | status | read)
	remember
	enter
	;;
esac
case ${1-} in
start) turn_on ;;
stop) turn_off ;;
status) tell ;;
read) show ;;
*)
	printf 'usage: sh %s start | stop | status | read\n' "$0" >&2
	exit 2
	;;
esac
