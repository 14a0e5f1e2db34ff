# Sourced by the benchmarks: starts $BUILD/discernd with a new database in $dir, removed at the end.
# shellcheck shell=bash
dir=$(mktemp -d)
pids=()
trap '[ ${#pids[@]} -eq 0 ] || kill "${pids[@]}" 2>/dev/null; rm -rf "$dir"' EXIT
now() { date +%s.%N; }
start() {
    rm -f "$dir/port"
    "$BUILD/discernd" --listen 127.0.0.1:0 --port-file "$dir/port" --database "$dir/discern.db" --log-level warn "$@" 2>>"$dir/log" &
    daemon=$!
    pids=("$daemon")
    while [ ! -s "$dir/port" ]; do kill -0 "$daemon" || { cat "$dir/log"; exit 1; }; sleep 0.002; done
    URL=http://127.0.0.1:$(cat "$dir/port")
    until [ "$(curl -s -o /dev/null -w '%{http_code}' "$URL/readyz")" = 200 ]; do sleep 0.002; done
}
stop() { kill -TERM "$daemon" && wait "$daemon"; pids=(); }
rss() { awk -v key="$1" '$1 == key ":" { print $2 }' "/proc/$daemon/status"; }
ratio() { awk -v a="$1" -v b="$2" 'BEGIN { printf "%.2f", (b > 0 ? a / b : 0) }'; }
