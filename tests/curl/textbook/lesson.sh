# shellcheck shell=bash
# What the lessons share: the calls of the service in short, and a line for every number, beside what the book says.
set -eu
URL=${DISCERN_URL:-http://localhost:8080}

# title WORDS…: what the lesson is about.
title() { printf '%s\n\n' "$*"; }
say() { printf '%s\n' "$*"; }

# upload NAME [QUERY]: the CSV on standard input becomes a dataset. x1 and x2 are numbers unless QUERY says otherwise.
upload() { curl -sSf -o /dev/null -T - "$URL/v1/datasets/$1${2:+?$2}"; }

# train MODEL DATASET ALGORITHM [PARAMS [MORE]]: a job of column `class`, waited for; $job is its description. PARAMS and MORE are JSON objects; MORE has further members of the job.
train() {
    local asked
    asked=$(jq -cn --arg m "$1" --arg d "$2" --arg a "$3" --argjson p "${4:-{\}}" --argjson more "${5:-{\}}" \
        '{model: $m, dataset: $d, target: "class", algorithm: $a, params: $p} + $more')
    job=$(curl -sS "$URL/v1/jobs" -d "$asked")
    job=$(curl -sS "$URL/v1/jobs/$(jq .id <<<"$job")?wait=50")
    [ "$(jq -r .state <<<"$job")" = succeeded ] || {
        printf 'the job %s did not succeed:\n%s\n' "$asked" "$job" >&2
        exit 1
    }
}
# result FILTER: of the last job's result.
result() { jq -c ".result | $1" <<<"$job"; }
# weights MODEL FILTER
weights() { curl -sSf "$URL/v1/models/$1/weights" | jq -c "$2"; }
# ask MODEL ROWS FILTER [OUTPUT]: predictions for a JSON list of rows.
ask() { curl -sSf "$URL/v1/models/$1/predict${4:+?output=$4}" -d "{\"instances\": $2}" | jq -c "$3"; }

# near WHAT GOT WANTED [TOLERANCE]: numbers, or JSON lists of them, that must agree (1e-4 unless told).
near() {
    local off
    off=$(jq -n --argjson a "$2" --argjson b "$3" '[$a, $b] | map([.] | flatten) | if (.[0] | length) != (.[1] | length) then 1e300 else transpose | map(.[0] - .[1] | fabs) | max end')
    verdict "$(awk -v off="$off" -v most="${4:-1e-4}" 'BEGIN { print (off <= most) }')" "$1" "$2" "$3"
}
# same WHAT GOT WANTED: the same text.
same() { verdict "$([ "$2" = "$3" ] && echo 1)" "$1" "$2" "$3"; }
# holds WHAT LEFT RELATION RIGHT: a relation of two numbers.
holds() { verdict "$(awk -v a="$2" -v b="$4" "BEGIN { print (a $3 b) }")" "$1" "$2" "$3 $4"; }
verdict() {
    if [ "$1" = 1 ]; then
        printf '  %-62s %s   (expected %s)\n' "$2" "$3" "$4"
    else
        printf 'WRONG: %s\n  got:      %s\n  expected: %s\n' "$2" "$3" "$4" >&2
        exit 1
    fi
}

# clouds SEED CLASS MEAN1 MEAN2 DEVIATION N …: rows x1,x2,class of normal clouds, the same on every machine.
clouds() {
    awk -v seed="$1" -v list="${*:2}" '
        function uniform() { seed = (seed * 16807) % 2147483647; return seed / 2147483647 }
        function normal() { return sqrt(-2 * log(uniform())) * cos(6.283185307179586 * uniform()) }
        BEGIN {
            n = split(list, cloud, " ")
            for (i = 1; i <= 20; i++) uniform()
            for (c = 1; c + 4 <= n; c += 5)
                for (t = 0; t < cloud[c + 4]; t++)
                    printf "%.6f,%.6f,%s\n", cloud[c + 1] + cloud[c + 3] * normal(), cloud[c + 2] + cloud[c + 3] * normal(), cloud[c]
        }'
}
