# shellcheck shell=bash
# TAP for shell tests: check NAME ACTUAL EXPECTED, or result STATUS NAME; tap_end at the end.
tap_n=0
tap_failed=0
result() { # STATUS NAME
    tap_n=$((tap_n + 1))
    if [ "$1" -eq 0 ]; then
        echo "ok $tap_n - $2"
    else
        tap_failed=$((tap_failed + 1))
        echo "not ok $tap_n - $2"
    fi
}
skip() { # NAME WHY
    tap_n=$((tap_n + 1))
    echo "ok $tap_n - $1 # SKIP $2"
}
check() { # NAME ACTUAL EXPECTED
    [ "$2" = "$3" ]
    local status=$?
    result $status "$1"
    [ $status -eq 0 ] || printf '#   expected %s\n#   got      %s\n' "$3" "$2"
}
tap_end() {
    echo "1..$tap_n"
    exit $((tap_failed > 0))
}
