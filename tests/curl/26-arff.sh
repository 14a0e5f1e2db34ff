#!/bin/bash
# ARFF: a table with declared types, rows appended to it, and predictions of ARFF rows.
#   DISCERN_URL=http://localhost:8080 tests/curl/26-arff.sh
set -eu
. "$(dirname "$0")/expect.sh"
URL=${DISCERN_URL:-http://localhost:8080}
DATA=$(dirname "$0")/../data
# iris as Weka writes it
iris() {
    printf '@relation iris\n'
    head -n 1 "$DATA/iris.csv" | tr ',' '\n' | head -n 4 | sed 's/.*/@attribute & numeric/'
    printf '@attribute class {setosa,versicolor,virginica}\n@data\n'
}
{ iris; tail -n +2 "$DATA/iris.csv"; } | curl -sSf -T - -H 'Content-Type: text/x-arff' "$URL/v1/datasets/arff-iris" -o /dev/null
expect "$(curl -sSf "$URL/v1/datasets/arff-iris" | jq -c '[.rows, .columns[4].type, .notes.format]')" '[150,"categorical","arff"]'

expect "$({ iris; tail -n +2 "$DATA/iris.csv"; } | curl -sSf --data-binary @- "$URL/v1/datasets:preview?rows=2" | jq -c '[.format, (.rows | length)]')" '["arff",2]'

# A sparse row leaves out zeros and first values of nominal attributes.
{ iris; echo '{0 5.1, 1 3.5, 2 1.4}'; } | curl -sSf --data-binary @- "$URL/v1/datasets/arff-iris/rows" -o /dev/null
expect "$(curl -sSf "$URL/v1/datasets/arff-iris/rows?offset=150" | jq -c '.items[0] | [.petal_width, .class]')" '[0,"setosa"]'

job=$(curl -sSf "$URL/v1/jobs" -d '{"model":"arff-iris","dataset":"arff-iris","target":"class","algorithm":"logistic"}' | jq .id)
expect "$(curl -sSf "$URL/v1/jobs/$job?wait=50" | jq -r .state)" succeeded
expect "$({ iris; echo '6.3,3.3,6.0,2.5,?'; } | curl -sSf "$URL/v1/models/arff-iris/predict" --data-binary @- | jq -r '.predictions[0].label')" virginica

# A value that the header does not declare is refused with its place.
expect "$({ iris; echo '6.3,3.3,6.0,2.5,rose'; } | curl -sS -T - "$URL/v1/datasets/arff-bad" | jq -c '.errors[0] | [.line, .column]')" '[8,17]'
