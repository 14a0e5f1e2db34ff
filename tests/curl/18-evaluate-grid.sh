#!/bin/bash
# A decision boundary to plot: labels and scores over a grid of two columns.
#   DISCERN_URL=http://localhost:8080 tests/curl/18-evaluate-grid.sh
set -eu
. "$(dirname "$0")/expect.sh"
URL=${DISCERN_URL:-http://localhost:8080}
DATA=$(dirname "$0")/../data
curl -sSf -T "$DATA/iris.csv" "$URL/v1/datasets/grid-iris" >/dev/null
job=$(curl -sSf "$URL/v1/jobs" -d '{"model":"grid-iris","dataset":"grid-iris","target":"class","algorithm":"svm",
    "params":{"kernel":{"type":"rbf","width":1}},"features":{"include":["petal_length","petal_width"]}}' | jq .id)
expect "$(curl -sSf "$URL/v1/jobs/$job?wait=50" | jq -r .state)" succeeded
GRID=$URL/v1/models/grid-iris/evaluate_grid

# Rows go up with y, columns along x; what is not said of the range is the data's own, and a little more.
grid=$(curl -sSf "$GRID" -d '{"x":{"column":"petal_length","steps":60},"y":{"column":"petal_width","steps":20},"output":"label"}')
expect "$(echo "$grid" | jq -c '[(.labels | length), (.labels[0] | length), .x.values[0] < 1, .x.values[-1] > 6.9]')" '[20,60,true,true]'
# As a picture in the terminal: each class its letter. Setosa is at the left below, virginica at the right above.
picture=$(echo "$grid" | jq -r '.classes as $c | .labels | reverse[] | map($c[.][0:3] | {"set":"s","ver":"e","vir":"i"}[.]) | join("")')
echo "$picture"
expect "$(echo "$picture" | tail -n 1 | cut -c1)$(echo "$picture" | head -n 1 | cut -c60)" si

# Scores, of a line through the plane: one plane for each score; a point's is what a prediction of the same row says.
line=$(curl -sSf "$GRID" -d '{"x":{"column":"petal_length","from":1,"to":7,"steps":7},"at":{"petal_width":1.5},"output":"scores"}')
row=$(curl -sSf "$URL/v1/models/grid-iris/predict?output=scores" -d '{"instances":[{"petal_length":4,"petal_width":1.5}]}')
expect "$(echo "$line" | jq -c '[.scores[][3]]')" "$(echo "$row" | jq -c '.predictions[0].scores')"
