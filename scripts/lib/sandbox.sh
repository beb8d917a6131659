# shellcheck shell=bash
# Sourced after env.sh and processes.sh: the Python sandbox as a plain process on this machine.

# build_sandbox dev|native: builds the sandbox, and sets SANDBOX_BINARY.
build_sandbox() {
  say "compiling the Python sandbox"
  cargo build --quiet --locked --package pegboard-sandbox --profile "$1"
  SANDBOX_BINARY="${CARGO_TARGET_DIR:-$ROOT/target}/${1/#dev/debug}/pegboard-sandbox"
}

# start_sandbox LOG [FLAG...]: starts the server on a free port that only this machine can reach, and sets SANDBOX_URL.
# Fails if the server cannot run here. SANDBOX_PYTHON=... names a Python that the server would not find.
start_sandbox() {
  local log=$1 tries address
  shift
  mkdir -p "$(dirname "$log")"
  # The log must not hold the address of an earlier run.
  : >"$log"
  # An empty environment: code that escapes the sandbox must find nothing of use.
  # shellcheck disable=SC2016 # for the inner shell
  start bash -c 'log=$1; shift; exec env -i "$@" 2>"$log"' sandbox "$log" \
    "$SANDBOX_BINARY" --listen 127.0.0.1:0 ${SANDBOX_PYTHON:+--python "$SANDBOX_PYTHON"} "$@"
  for ((tries = 0; tries < 100; tries++)); do
    address=$(sed -n 's/.*listening on \([^ ]*\).*/\1/p' "$log" 2>/dev/null) || true
    [[ -z $address ]] || break
    kill -0 "$STARTED" 2>/dev/null || break
    sleep 0.1
  done
  if [[ -z ${address:-} ]]; then
    cat "$log" >&2
    return 1
  fi
  # shellcheck disable=SC2034 # read by the script that sources this file
  SANDBOX_URL="http://$address"
}
