#!/bin/bash
# Clients receive the answer to a refused large body: curl with and without Expect, Python's
# http.client and Node's fetch, with Content-Length and chunked.
#   tests/clients/refusals.sh PLAN...       PLAN: METHOD:PATH:STATUS, against $PROXY_URL or $DISCERN_URL, bodies of $REFUSAL_MB (50)
# Writes TAP. A client that is not installed is skipped.
set -u
here=$(dirname "$0")
. "$here/../tap.sh"
URL=${PROXY_URL:-$DISCERN_URL}
MB=${REFUSAL_MB:-50}
body=$(mktemp)
answer=$(mktemp)
trap 'rm -f "$body" "$answer"' EXIT
yes 1.5,2.5,3.5,x | head -c $((MB << 20)) >"$body" # the last line is cut: the body has a fault at its end

# with_curl NAME METHOD PATH STATUS FLAGS...
with_curl() {
    local name=$1 method=$2 path=$3 status=$4 got
    shift 4
    got=$(curl -sS --max-time 90 -o "$answer" -w '%{http_code} %{content_type}' -X "$method" -H 'Content-Type: text/csv' "$@" "$URL$path" 2>&1 <"$body")
    check "curl $name, $method $path" "$got $(jq -r .status "$answer" 2>/dev/null)" "$status application/problem+json $status"
}
others=()
for plan; do
    IFS=: read -r method path status <<<"$plan"
    with_curl "with Expect, plain" "$method" "$path" "$status" -H 'Expect: 100-continue' -T "$body"
    with_curl "without Expect, plain" "$method" "$path" "$status" -H 'Expect:' -T "$body"
    with_curl "with Expect, chunked" "$method" "$path" "$status" -H 'Expect: 100-continue' -T -
    with_curl "without Expect, chunked" "$method" "$path" "$status" -H 'Expect:' -T -
    others+=("$method:$path:plain:$status" "$method:$path:chunked:$status")
done
# client NAME COMMAND...: the command prints a line for each plan
client() {
    local name=$1 i=0 line
    shift
    command -v "$1" >/dev/null || { skip "$name" "$1 is not installed"; return; }
    while read -r line; do
        [ "$line" = ok ]
        result $? "$name, ${others[i]}$([ "$line" = ok ] || echo ": $line")"
        i=$((i + 1))
    done < <("$@" "$URL" "$MB" "${others[@]}" 2>&1)
    [ $i -eq ${#others[@]} ] || result 1 "$name ended after $i of ${#others[@]} requests"
}
client "Python http.client" python3 "$here/refusals.py"
if command -v node >/dev/null && ! node -e 'fetch' 2>/dev/null; then
    skip "Node fetch" "this Node has no fetch"
else
    client "Node fetch" node "$here/refusals.mjs"
fi
[ "$(curl -sS -o /dev/null -w '%{http_code}' "$URL/healthz")" = 200 ]
result $? "the daemon is alive after it"
tap_end
