#!/usr/bin/env bash
# Long-running work in one turn: a sub-session, a background call, and an operation whose result arrives by webhook and
# continues the session. Needs bash, curl, python3 and a built server; cleans up when it ends.
#
#   docs/demo/run.sh [path of the pilothouse binary]
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

binary=${1:-}
for built in release quick debug; do
    binary=${binary:-$(ls "${CARGO_TARGET_DIR:-$here/../../target}/$built/pilothouse" 2>/dev/null || true)}
done
[ -x "$binary" ] || { echo "There is no pilothouse binary: run 'cargo build' first." >&2; exit 1; }
# The server is started in another folder.
binary=$(realpath "$binary")

work=$(mktemp -d)
processes=()
leave() {
    [ ${#processes[@]} -eq 0 ] || kill "${processes[@]}" 2>/dev/null || true
    wait
    rm -rf "$work"
}
trap leave EXIT

# Runs a command until it prints something, for at most ten seconds.
await() {
    local found
    for _ in $(seq 100); do
        found=$("$@" 2>/dev/null || true)
        [ -z "$found" ] || { echo "$found"; return; }
        sleep 0.1
    done
    echo "'$*' printed nothing." >&2
    cat "$work"/*.log >&2
    exit 1
}

# The key of the webhook.
CHAT_INTERNAL_API_KEY=$(python3 -c 'import secrets; print(secrets.token_hex(32))')
export CHAT_INTERNAL_API_KEY

python3 "$here/service.py" "$work/port" 2>"$work/service.log" &
processes+=($!)
port=$(await cat "$work/port")
sed "s/127.0.0.1:9000/127.0.0.1:$port/" "$here/tools.json" >"$work/tools.json"

(
    cd "$work"
    # A call that takes longer than a second continues in the background.
    CHAT_PROVIDER=offline CHAT_TOOL_BUDGET_SECONDS=1 CHAT_TOOLS_FILE="$work/tools.json" \
        exec "$binary" serve --port 0 --data "$work/data"
) >"$work/server.out" 2>"$work/server.log" &
processes+=($!)
url=$(await sed -n 's/^ *URL *//p' "$work/server.out")/api

post() {
    curl --silent --show-error --fail --no-buffer --max-time 60 \
        -H 'content-type: application/json' --data "$2" "$url$1"
}
session=$(post /chat/sessions '{}' | python3 -c 'import json, sys; print(json.load(sys.stdin)["id"])')
message=$(cat <<'COMMANDS'
/tool run_sub_session {"prompt": "/stream count=40 size=4 delay_ms=100"}
/tool weigh_cargo {"cargo": "herring"}
/tool print_chart {"chart": "Vlissingen"}
COMMANDS
)
body=$(python3 -c 'import json, sys; print(json.dumps({"message": sys.argv[1]}))' "$message")

echo "One turn, three calls at once:"
post "/chat/sessions/$session/stream" "$body" | tee "$work/turn" | python3 "$here/show.py"

task=$(sed -n 's/.*"type":"operation_started".*"task_id":"\([^"]*\)".*/\1/p' "$work/turn" | head -n 1)
[ -n "$task" ] || { echo "No operation was started." >&2; exit 1; }
echo "The turn has ended. The operation has its own stream, which ends after its service has called back:"
curl --silent --show-error --fail --no-buffer --max-time 60 "$url/chat/tasks/$task/stream" |
    tee "$work/task" | python3 "$here/show.py"

for wanted in '"type":"background"' '"type":"sub_session_status"' '"type":"operation_started"'; do
    grep -q "$wanted" "$work/turn" || { echo "The turn has no $wanted." >&2; exit 1; }
done
grep -q '"file":"chart.pdf"' "$work/task" || { echo "The webhook's result did not arrive." >&2; exit 1; }
grep -q '"type":"text-delta"' "$work/task" || { echo "The session did not continue." >&2; exit 1; }
