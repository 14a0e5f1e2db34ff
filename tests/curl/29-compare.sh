#!/bin/bash
# A comparison of models against one computed from their predictions.
#   DISCERN_URL=http://localhost:8080 tests/curl/29-compare.sh
set -eu
URL=${DISCERN_URL:-http://localhost:8080}
exec python3 "$(dirname "$0")/compared.py" "$URL" "$(dirname "$0")/../data/breast_cancer.csv"
