# shellcheck shell=bash
# What the lessons share: the calls of the service in short, and a line for every number, beside what it has to be.
# A lesson opens with its number and name (its second line) and the chapter of the book (its third); they head its output.
set -euo pipefail
export LC_ALL=C # a decimal point in every country
URL=${DISCERN_URL:-http://localhost:8080}
trap 'echo "$0 stopped in line $LINENO" >&2' ERR
sed -n '2s/^# //p; 3s/^# /Book: /p' "$0" | fold -s -w 110

# say WORDS…: a paragraph. Line ends in WORDS become spaces.
say() { printf '\n%s\n' "${*//$'\n'/ }" | fold -s -w 110; }

# upload NAME [QUERY]: the CSV on standard input becomes a dataset. QUERY may say its types.
upload() { curl -sSf -o /dev/null -T - "$URL/v1/datasets/$1${2:+?$2}"; }

# train MODEL DATASET ALGORITHM [PARAMS [MORE]]: a job for column `class`, waited for; $job is its description. PARAMS and MORE are JSON objects; MORE has further members of the job.
train() {
    local asked id
    asked=$(jq -cn --arg m "$1" --arg d "$2" --arg a "$3" --argjson p "${4:-{\}}" --argjson more "${5:-{\}}" \
        '{model: $m, dataset: $d, target: "class", algorithm: $a, params: $p} + $more')
    job=$(curl -sS "$URL/v1/jobs" -d "$asked")
    id=$(jq .id <<<"$job")
    [ "$id" = null ] || job=$(curl -sS "$URL/v1/jobs/$id?wait=50")
    [ "$(jq -r .state <<<"$job")" = succeeded ] || {
        printf 'the job %s did not succeed:\n%s\n' "$asked" "$job" >&2
        exit 1
    }
}
# result FILTER: of the last job's result.
result() { jq -c ".result | $1" <<<"$job"; }
# warned WORD: whether the last job warned of it.
warned() { jq --arg word "$1" 'any(.warnings[]; test($word))' <<<"$job"; }
# snapshot N: the weights and then the intercept after pass N of the last job, which has asked for "snapshots"; after update N if it has asked for "snapshots_of" updates.
snapshot() { history ".snapshots[] | select((.update // .iteration) == $1) | [.w, .w0] | flatten"; }
# history FILTER: of the last job's history.
history() { curl -sSf "$URL/v1/jobs/$(jq .id <<<"$job")/history" | jq -c "$1"; }
# weights MODEL FILTER
weights() { curl -sSf "$URL/v1/models/$1/weights" | jq -c "$2"; }
# ask MODEL ROWS FILTER [OUTPUT]: predictions for a JSON list of rows.
ask() { curl -sSf "$URL/v1/models/$1/predict${4:+?output=$4}" -d "{\"instances\": $2}" | jq -c "$3"; }
# judge MODEL FILTER: the evaluation on the labelled CSV on standard input.
judge() { curl -sSf "$URL/v1/models/$1/evaluate" -H 'Content-Type: text/csv' --data-binary @- | jq -c "$2"; }

# What is not a number (nothing, null, nan) is never near anything and in no relation to it.
NUMBERS='def numbers: fromjson | [.] | flatten | if length > 0 and all(type == "number" and (isnan | not)) then . else error("no number") end;'
# near WHAT GOT WANTED [TOLERANCE]: numbers, or JSON lists of them, that must agree (1e-4 unless told).
near() {
    local good
    good=$(jq -n --arg a "$2" --arg b "$3" --arg most "${4-1e-4}" "$NUMBERS"'
        try (($a | numbers) as $a | ($b | numbers) as $b | ($most | numbers[0]) as $most
            | ($a | length) == ($b | length) and ([$a, $b] | transpose | all(.[0] - .[1] | fabs <= $most))) catch false') || good=false
    verdict "$good" "$1" "$2" "$3 to within ${4-1e-4}"
}
# same WHAT GOT WANTED: the same text.
same() { verdict "$([ -n "$2" ] && [ "$2" != null ] && [ "$2" = "$3" ] && echo true)" "$1" "$2" "$3"; }
# holds WHAT LEFT RELATION RIGHT: a relation of two numbers.
holds() {
    local good
    good=$(jq -n --arg a "$2" --arg b "$4" "$NUMBERS try ((\$a | numbers[0]) $3 (\$b | numbers[0])) catch false") || good=false
    verdict "$good" "$1" "$2" "$3 $4"
}
verdict() {
    if [ "$1" = true ]; then
        printf '  %-58s %s   (expected: %s)\n' "$2" "$(short "$3")" "$(short "$4")"
    else
        printf 'WRONG: %s\n  got:      %s\n  expected: %s\n' "$2" "${3:-nothing}" "$4" >&2
        exit 1
    fi
}
# short TEXT: on one line, its long numbers cut to seven digits; they were compared in full.
short() {
    awk '{ line = line (NR > 1 ? " " : "") $0 }
        END {
            while (match(line, /[0-9]+\.[0-9]+(e[-+]?[0-9]+)?/)) {
                number = substr(line, RSTART, RLENGTH)
                out = out substr(line, 1, RSTART - 1) (length(number) > 8 ? sprintf("%.7g", number) : number)
                line = substr(line, RSTART + RLENGTH)
            }
            print out line
        }' <<<"$1"
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
