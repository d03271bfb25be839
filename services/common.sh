# common.sh - what the scripts of all services share

die() {
    echo "${0##*/}: $*" >&2
    exit 1
}

# The service's folder, absolute, from the one argument.
folder_argument() {
    [[ $# -ge 1 && $1 != -* ]] || die "usage: ${0##*/} DIR"
    realpath -m -- "$1"
}

# pid_in FILE ARGUMENT: the pid that the file names. Fails when there is none: a pid that meanwhile belongs to another
# program does not have that argument in its command line.
pid_in() {
    local pid
    [[ -r $1 ]] && pid=$(<"$1") && [[ $pid =~ ^[0-9]+$ ]] || return 1
    [[ -r /proc/$pid/cmdline ]] && tr '\0' '\n' <"/proc/$pid/cmdline" 2>/dev/null | grep -qxF -- "$2" || return 1
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

# free_port: one that nobody listens on, below the range out of which the system takes ports for outgoing connections.
free_port() {
    local port
    while :; do
        port=$((20000 + RANDOM % 12000))
        if ! (: <>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then
            echo "$port"
            return
        fi
    done
}

# fetch_jars NAME POM [OPTION...]: prints the folder that holds the jars of a pom, asked of Maven with these options. They
# come from Maven Central, once, into ${XDG_CACHE_HOME:-~/.cache}/pawl, where they appear all at once or not at all.
fetch_jars() {
    local cache folder
    cache=${XDG_CACHE_HOME:-$HOME/.cache}/pawl
    folder=$cache/$1-$(cat "$2" <(printf '%s' "${@:3}") | sha256sum | cut -c1-12)
    mkdir -p "$cache"
    (
        flock 9
        [[ ! -d $folder ]] || exit 0
        echo "${0##*/}: fetching the jars of $1 into $folder" >&2
        rm -rf "$folder.part"
        mkdir "$folder.part"
        # Maven wants a folder of its own beside the pom.
        cp "$2" "$folder.part/pom.xml"
        mvn --batch-mode --quiet -Dstyle.color=never -f "$folder.part/pom.xml" dependency:copy-dependencies "${@:3}" \
            -DoutputDirectory="$folder.part/libs" -DincludeScope=runtime >&2
        mv "$folder.part" "$folder"
    ) 9>"$cache/$1.lock"
    echo "$folder/libs"
}
