# shellcheck shell=bash
# Sourced after env.sh: processes that must not outlive the script that started them.

# Process groups that stop_all ends, in the order in which they were started.
GROUPS_STARTED=()

# start COMMAND...: runs it in the background in a process group of its own, so that whatever it
# starts in turn is ended with it. Sets STARTED to its process id.
start() {
  # Job control is what gives a background command its own group.
  set -m
  "$@" </dev/null &
  STARTED=$!
  set +m
  GROUPS_STARTED+=("$STARTED")
}

# Ends every group that was started: asks first, insists after five seconds. Safe to call twice.
stop_all() {
  local group tries
  for group in ${GROUPS_STARTED[@]+"${GROUPS_STARTED[@]}"}; do
    kill -TERM -- "-$group" 2>/dev/null || continue
    for ((tries = 0; tries < 50; tries++)); do
      kill -0 -- "-$group" 2>/dev/null || break
      sleep 0.1
    done
    kill -KILL -- "-$group" 2>/dev/null || true
  done
  GROUPS_STARTED=()
}

# From here on, however the script ends, so do they.
stop_all_at_exit() {
  trap stop_all EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM HUP
}

# Whether something answers at URL. With Node, which is here anyway; curl may not be.
answers() {
  node -e 'fetch(process.argv[1], { signal: AbortSignal.timeout(2000) }).then(() => process.exit(0), () => process.exit(1))' "$1"
}

# wait_for URL PID SECONDS: until URL answers; fails if the process ends first or time runs out.
wait_for() {
  local url=$1 pid=$2 deadline=$((SECONDS + $3))
  until answers "$url"; do
    kill -0 "$pid" 2>/dev/null || return 1
    ((SECONDS < deadline)) || return 1
    sleep 0.2
  done
}
