# shellcheck shell=bash
# Sourced after env.sh: starts processes that end with the script.

# Process groups that stop_all ends, in the order in which they were started.
GROUPS_STARTED=()

# start COMMAND...: runs the command in the background in a process group of its own, so that its child processes end with
# it. Sets STARTED to its process id.
start() {
  # Job control gives a background command its own process group.
  set -m
  "$@" </dev/null &
  STARTED=$!
  set +m
  GROUPS_STARTED+=("$STARTED")
}

# Ends every process group: with SIGTERM first, and with SIGKILL after five seconds. Safe to call twice.
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

# From here on the process groups end with the script, however the script ends.
stop_all_at_exit() {
  # A second signal, such as an impatient Ctrl-C, must not end the stopping half-way.
  trap 'trap "" INT TERM HUP; stop_all' EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM HUP
}

# Tells whether a server answers at URL. Uses Node, because curl may be missing.
answers() {
  node -e 'fetch(process.argv[1], { signal: AbortSignal.timeout(2000) }).then(() => process.exit(0), () => process.exit(1))' "$1"
}

# wait_for URL PID SECONDS: waits until a server answers at URL; fails if the process ends first, or after SECONDS.
wait_for() {
  local url=$1 pid=$2 deadline=$((SECONDS + $3))
  until answers "$url"; do
    kill -0 "$pid" 2>/dev/null || return 1
    ((SECONDS < deadline)) || return 1
    sleep 0.2
  done
}
