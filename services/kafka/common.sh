# common.sh - what start, stop and kill share

die() {
    echo "${0##*/}: $*" >&2
    exit 1
}

# The service's folder, absolute, from the one argument.
folder_argument() {
    [[ $# -ge 1 && $1 != -* ]] || die "usage: ${0##*/} DIR"
    realpath -m -- "$1"
}

# running_pid DIR: the pid of the broker of that folder. Fails when there is none: a pid that meanwhile belongs to
# another program does not have our file in its command line.
running_pid() {
    local pid
    [[ -r $1/pid ]] && pid=$(<"$1/pid") && [[ $pid =~ ^[0-9]+$ ]] || return 1
    [[ -r /proc/$pid/cmdline ]] && tr '\0' '\n' <"/proc/$pid/cmdline" 2>/dev/null | grep -qxF "$1/server.properties" ||
        return 1
    echo "$pid"
}

# await_end PID SECONDS: until it has ended. Fails when it has not by then. One that has ended and whose parent has not
# looked yet (in a container that can take a second) is still listed, as Z: its ports and files are free already.
await_end() {
    local deadline=$((SECONDS + $2)) state
    while state=$(sed -E 's/^.*\) (.).*/\1/' "/proc/$1/stat" 2>/dev/null) && [[ $state != Z ]]; do
        ((SECONDS < deadline)) || return 1
        sleep 0.02
    done
}
