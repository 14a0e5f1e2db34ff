# shellcheck shell=bash
# expect ACTUAL WANTED: ends the script with a line that says so when they differ. It is all that these scripts share.
expect() {
    [ "$1" = "$2" ] || {
        echo "expected: $2" >&2
        echo "got:      $1" >&2
        exit 1
    }
}
