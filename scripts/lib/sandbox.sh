# shellcheck shell=bash
# Sourced after env.sh, tools.sh and processes.sh: the Python sandbox as a plain process on this machine.

# The Python that the sandbox uses, as the sandbox finds it (sandbox/src/launch/python.rs).
sandbox_python() {
  local each
  for each in "${SANDBOX_PYTHON:-}" /usr/local/bin/python3 /usr/bin/python3; do
    [[ ! -x $each ]] || { echo "$each"; return 0; }
  done
  die "the sandbox needs Python: set SANDBOX_PYTHON to its path"
}

# Installs the packages of sandbox/requirements.txt for the sandbox's Python into the cache, and sets SANDBOX_PACKAGES to
# their folder. The folder is named after the list and the version of Python.
ensure_sandbox_packages() {
  local python version hash dir
  python=$(sandbox_python)
  version=$("$python" -I -S -c 'import sys; print("%d.%d" % sys.version_info[:2])')
  hash=$(sha256sum sandbox/requirements.txt | cut -c1-12)
  dir=$(tool_dir sandbox-packages "$version-$hash")
  install_once "$dir" ready install_sandbox_packages "$python" "$version"
  export SANDBOX_PACKAGES=$dir
}

# install_sandbox_packages PYTHON VERSION DIR. The packages are compiled by the Python that will use them, because that Python
# cannot write there.
install_sandbox_packages() {
  local python=$1 version=$2 dir=$3 venv
  say "installing the Python packages of the sandbox"
  venv=$(mktemp -d)
  python3 -m venv "$venv"
  "$venv/bin/pip" install --quiet --disable-pip-version-check --target "$dir" --only-binary=:all: --no-compile \
    --implementation cp --python-version "$version" -r sandbox/requirements.txt >&2
  rm -rf "$venv"
  "$python" -I -S -m compileall -q "$dir"
  chmod -R a+rX "$dir"
  touch "$dir/ready"
}

# build_sandbox dev|native: builds the sandbox, and sets SANDBOX_BINARY.
build_sandbox() {
  say "compiling the Python sandbox"
  cargo build --quiet --locked --package pegboard-sandbox --profile "$1"
  SANDBOX_BINARY="${CARGO_TARGET_DIR:-$ROOT/target}/${1/#dev/debug}/pegboard-sandbox"
}

# start_sandbox LOG [FLAG...]: starts the server on a free port that only this machine can reach, and sets SANDBOX_URL.
# Fails if the server cannot run here. SANDBOX_PYTHON=... names a Python that the server would not find.
# ensure_sandbox_packages comes before.
start_sandbox() {
  local log=$1 tries address
  shift
  mkdir -p "$(dirname "$log")"
  # The log must not hold the address of an earlier run.
  : >"$log"
  # An empty environment: code that escapes the sandbox must find nothing of use.
  # shellcheck disable=SC2016 # for the inner shell
  start bash -c 'log=$1; shift; exec env -i "$@" 2>"$log"' sandbox "$log" \
    "$SANDBOX_BINARY" --listen 127.0.0.1:0 ${SANDBOX_PYTHON:+--python "$SANDBOX_PYTHON"} \
    --packages "$SANDBOX_PACKAGES" "$@"
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
