# shellcheck shell=bash
# expect ACTUAL WANTED: ends the script with a line that says so when they differ, or when there is nothing to compare: two values that are both
# missing are no agreement. It is all that these scripts share.
expect() {
    case $2 in
    '' | null)
        echo "expected: a value, not \"$2\"" >&2
        exit 1
        ;;
    esac
    [ "$1" = "$2" ] || {
        echo "expected: $2" >&2
        echo "got:      $1" >&2
        exit 1
    }
}
