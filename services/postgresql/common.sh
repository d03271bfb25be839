# common.sh - what start, stop and kill share

. "$(dirname "${BASH_SOURCE[0]}")/../common.sh"

# running_pid DIR: the pid of the server of that folder. Fails when there is none.
running_pid() {
    pid_in "$1/pid" "$1/data"
}

# children PID: one for each connection, and the server's own helpers.
children() {
    cat "/proc/$1/task/$1/children" 2>/dev/null || true
}

# server PROGRAM [ARGUMENT...]: runs a program of the server, which refuses to be root.
server() {
    local program=$1 bin
    shift
    bin=$(printf '%s\n' /usr/lib/postgresql/*/bin | sort -V | tail -n 1)
    [[ -x $bin/$program ]] || die "no PostgreSQL server here: install the package postgresql"
    if [[ $EUID == 0 ]]; then
        (cd / && runuser -u postgres -- "$bin/$program" "$@")
    else
        "$bin/$program" "$@"
    fi
}
