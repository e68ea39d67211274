#!/usr/bin/env bash
# The work of `ralph hooks context-monitor` as a bash and jq hook script would do it: a baseline for the bench.
set -euo pipefail

payload=$(cat)
session=$(jq -r .session_id <<<"$payload")
transcript=$(jq -r .transcript_path <<<"$payload")
state=$XDG_STATE_HOME/$(printf %s "$session" | sha256sum | cut -d ' ' -f 1)
spent=0
[[ ! -f $state ]] || spent=$(<"$state")
tokens=$(tail -c 65536 "$transcript" | tail -n +2 | jq -s '
  [.[] | select(.type == "assistant" and (.isSidechain | not)) | .message.usage
   | .input_tokens + .cache_read_input_tokens + .cache_creation_input_tokens + .output_tokens] | last')
percent=$((tokens * 100 / 200000))
crossed=0
for threshold in 50 60 70 80 90; do
  ((percent < threshold || threshold <= spent)) || crossed=$threshold
done
((crossed > 0)) || exit 0
echo "$crossed" >"$state.new"
mv "$state.new" "$state"
jq -n --arg text "$crossed%" '{hookSpecificOutput: {hookEventName: "PostToolUse", additionalContext: $text}}'
