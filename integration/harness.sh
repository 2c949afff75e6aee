# What the shell clients' checks share. Source it, define functions, then `run_checks NAME...`.
# A check fails when its function returns non-zero; `expect GOT WANTED` says what was wrong.
set -uo pipefail

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export PGCONNECT_TIMEOUT=120

expect() {
    [ "$1" = "$2" ] && return
    printf 'got:\n%s\nexpected:\n%s\n' "${1:0:500}" "${2:0:500}"
    return 1
}

run_checks() {
    local name status passed=0 failed=0
    for name in "$@"; do
        # Not as the condition of an `if`: bash would ignore `set -e` in there.
        (set -e; "$name") >"$scratch/said" 2>&1
        status=$?
        if [ "$status" = 0 ]; then
            printf 'ok      %s\n' "$name"
            passed=$((passed + 1))
        else
            printf 'FAILED  %s\n' "$name"
            cat "$scratch/said"
            failed=$((failed + 1))
        fi
    done
    printf '%d passed, %d failed\n' "$passed" "$failed"
    [ "$failed" = 0 ]
}
