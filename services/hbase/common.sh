# common.sh - what start, stop and kill share

. "$(dirname "${BASH_SOURCE[0]}")/../common.sh"

# running_pid DIR NAME: the pid of "master" or "gateway" of that folder. Fails when it does not run.
running_pid() {
    pid_in "$1/$2.pid" "-Dpawl.service=$1/$2"
}

# end_process DIR NAME SIGNAL SECONDS: ends it, by SIGKILL when the signal does not do it in time. None is fine.
end_process() {
    local pid
    if pid=$(running_pid "$1" "$2"); then
        # A test may have frozen it.
        kill -CONT "$pid"
        kill -"$3" "$pid"
        if ! await_end "$pid" "$4"; then
            kill -KILL "$pid"
            await_end "$pid" 10 || die "process $pid does not end"
        fi
    fi
    rm -f "$1/$2.pid"
}
