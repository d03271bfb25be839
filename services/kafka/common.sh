# common.sh - what start, stop and kill share

. "$(dirname "${BASH_SOURCE[0]}")/../common.sh"

# running_pid DIR: the pid of the broker of that folder. Fails when there is none.
running_pid() {
    pid_in "$1/pid" "$1/server.properties"
}
