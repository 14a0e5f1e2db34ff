#!/bin/bash
# Text messages, spam or not: by the words that two messages share, and by word counts with a linear machine.
#   DISCERN_URL=http://localhost:8080 SMS=sms_spam.tsv tests/curl/20-spam.sh
# SMS is the file of the SMS Spam Collection (columns label and text); exit 77, skipped, without it.
set -eu
. "$(dirname "$0")/expect.sh"
URL=${DISCERN_URL:-http://localhost:8080}
SMS=${SMS:-$(dirname "$0")/../../../shared/data/sms_spam.tsv}
[ -r "$SMS" ] || { echo "skipped: there is no $SMS"; exit 77; }
# folds DATASET PARAMS: the mean accuracy in five folds
folds() {
    local id
    id=$(curl -sSf "$URL/v1/jobs" -d '{"model":"'"$1"'","dataset":"'"$1"'","target":"label","algorithm":"svm","params":'"$2"',
        "validation":{"folds":5}}' | jq .id)
    curl -sSf "$URL/v1/jobs/$id?wait=50" | jq -c '[.state, .result.metrics.validation.accuracy >= 0.97]'
}

# The first 1,500 messages. K(a, b) is the number of different words that both have; normalized, a long message is not nearer to everything.
head -n 1501 "$SMS" | curl -sSf -T - "$URL/v1/datasets/spam-some" -o /dev/null
expect "$(folds spam-some '{"kernel":{"type":"shared_words","normalize":true}}')" '["succeeded",true]'

# All of them; a text column becomes a feature for each word, most of them 0 in most rows.
curl -sSf -T "$SMS" "$URL/v1/datasets/spam-all" -o /dev/null
expect "$(folds spam-all '{}')" '["succeeded",true]'
expect "$(curl -sSf "$URL/v1/models/spam-all/predict" -d '{"instances": [
    {"text": "WINNER!! You have won a FREE prize, call 09061701461 to claim now"},
    {"text": "ok see you at home, mum"}]}' | jq -c '[.predictions[].label]')" '["spam","ham"]'
# The words that speak most for spam:
words=$(curl -sSf "$URL/v1/models/spam-all/weights" | jq -c '[.features, .w[0]] | transpose | sort_by(-.[1])[:30] | map(.[0])')
expect "$(jq 'any(.[]; . == "text:claim" or . == "text:150p" or . == "text:txt")' <<<"$words")" true
