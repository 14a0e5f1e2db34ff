#!/bin/bash
# Broken tables with on_error=repair: each variant of four small tables is read as the table.
#   DISCERN_URL=http://localhost:8080 tests/curl/27-repair.sh
set -eu
. "$(dirname "$0")/expect.sh"
URL=${DISCERN_URL:-http://localhost:8080}
exec python3 "$(dirname "$0")/polluted.py" "$URL"
