# Sourced by the benchmarks of training, after daemon.sh: jobs, and the table of results.
# shellcheck shell=bash
# row NUMBER WORK PEER SECONDS-OF-PEER SECONDS GOAL [THREADS]: prints a result. With TABLE set the row
# is appended to this file as Markdown. THREADS: those that Discern used; by default the last job's.
row() {
    local share=– threads=${7:-$(result '.resolved.limits.threads')}
    [[ $4 =~ ^[0-9.]+$ ]] && share=$(ratio "$5" "$4")
    echo "$1   $2: $5 s ($threads threads); $3 $4 s: $share (goal $6)"
    [ -z "${TABLE:-}" ] || echo "| $1 | $2 | $3 | $4 | $5 | $threads | $share | $6 |" >>"$TABLE"
}
# Reports that a peer is not installed: absent NUMBER PEER PACKAGE
absent() {
    echo "$1   not measured: $2 is missing (apt-get install $3)"
    [ -z "${TABLE:-}" ] || echo "| $1 | not measured | $2 is missing | – | – | – | – | – |" >>"$TABLE"
}
has() { command -v "$1" >/dev/null; }
has_sklearn() { /usr/bin/python3 -c 'import sklearn' 2>/dev/null; }
upload() { curl -sS -o "$dir/answer" -H 'Expect:' "${@:3}" -T "$1" "$URL/v1/datasets/$2"; }
# Runs the job of this JSON; its final state is in $dir/job. Fails unless it succeeded.
job() {
    local id
    id=$(curl -sS -X POST -d "$1" "$URL/v1/jobs" | tee "$dir/job" | jq -r '.id // empty')
    [ -n "$id" ] || { echo "refused: $(jq -r .detail "$dir/job")"; exit 1; }
    until curl -sS "$URL/v1/jobs/$id?wait=50" >"$dir/job" && [[ $(jq -r .state "$dir/job") =~ succeeded|failed|cancelled ]]; do :; done
    [ "$(jq -r .state "$dir/job")" = succeeded ] || { echo "failed: $(jq -r .error.detail "$dir/job")"; exit 1; }
}
result() { jq -r "$1" "$dir/job"; }
# Seconds of the last job: load, encode and fit; the fit; all.
trained() { result '.result.details.seconds | .load + .encode + .fit | . * 1000 | round / 1000'; }
fitted() { result '.result.details.seconds.fit * 1000 | round / 1000'; }
whole() { result '.result.details.seconds | add * 1000 | round / 1000'; }
best() { awk -v a="$1" -v b="$2" 'BEGIN { print (b == "" || a < b ? a : b) }'; }
seconds() { local began; began=$(now); "$@" >"$dir/peer.out" 2>&1 || { echo "failed: $*" >&2; exit 1; }; awk -v s="$began" -v e="$(now)" 'BEGIN { printf "%.3f", e - s }'; }
