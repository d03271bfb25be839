# tap.sh - for checks in shell: one line a case, details as comments, `done_testing` at the end

tap_count=0

# ok NAME: a case that passed
ok() {
    tap_count=$((tap_count + 1))
    echo "ok $tap_count - $1"
}

# not_ok NAME [TEXT]: a case that failed, and why
not_ok() {
    tap_count=$((tap_count + 1))
    echo "not ok $tap_count - $1"
    [[ -z ${2-} ]] || sed 's/^/# /' <<<"$2"
}

# skip NAME WHY
skip() {
    tap_count=$((tap_count + 1))
    echo "ok $tap_count - $1 # SKIP $2"
}

# check NAME COMMAND...: a case that passes when the command does; its output is shown when it does not
check() {
    local name=$1 output
    shift
    if output=$("$@" 2>&1); then
        ok "$name"
    else
        not_ok "$name" "$output"
    fi
}

done_testing() {
    echo "1..$tap_count"
}
