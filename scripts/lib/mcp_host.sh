# shellcheck shell=bash
# Sourced after env.sh, tools.sh and processes.sh: the host of stdio MCP servers as a plain process on this machine.

# Installs the packages of mcp-host/packages into the cache, and sets MCP_HOST_PACKAGES to their folder. The folder is named
# after the lists and their locks, so that a changed list makes a new folder.
ensure_mcp_packages() {
  ensure_node
  command -v python3 >/dev/null || die "python3 is needed"
  local hash dir
  hash=$(python3 -c 'import hashlib, pathlib, sys
digest = hashlib.sha256(sys.version.encode())
for file in sorted(pathlib.Path("mcp-host/packages").iterdir()):
    digest.update(file.read_bytes())
print(digest.hexdigest()[:12])')
  dir=$(tool_dir mcp-packages "$hash")
  [[ -e $dir/ready ]] || locked "$dir" install_mcp_packages "$dir"
  MCP_HOST_PACKAGES=$dir
}

# A Python environment holds its own path and cannot be renamed into place, so the file `ready` is written last instead.
install_mcp_packages() {
  local dir=$1
  [[ ! -e $dir/ready ]] || return 0
  say "installing the packages of MCP servers"
  rm -rf "$dir"
  mkdir -p "$dir"
  cp mcp-host/packages/* "$dir/"
  npm ci --prefix "$dir" --ignore-scripts --no-audit --no-fund --loglevel=error >&2
  python3 -m venv "$dir/venv"
  "$dir/venv/bin/pip" install --quiet --disable-pip-version-check -r "$dir/requirements.txt" -c "$dir/constraints.txt" >&2
  touch "$dir/ready"
}

# build_mcp_host dev|native: builds the host, and sets MCP_HOST_BINARY.
build_mcp_host() {
  say "compiling the host of MCP servers"
  cargo build --quiet --locked --package pegboard-mcp-host --profile "$1"
  MCP_HOST_BINARY="${CARGO_TARGET_DIR:-$ROOT/target}/${1/#dev/debug}/pegboard-mcp-host"
}

# start_mcp_host LOG [FLAG...]: starts the host on a free port that only this machine can reach, with a secret that only this
# run knows, and sets MCP_HOST_URL and MCP_HOST_SECRET. Fails if the host cannot run here.
start_mcp_host() {
  local log=$1 tries address
  shift
  mkdir -p "$(dirname "$log")"
  # The log must not hold the address of an earlier run.
  : >"$log"
  MCP_HOST_SECRET=$(od -An -N32 -tx1 /dev/urandom | tr -d ' \n')
  # A small environment: servers must find nothing of use. The secret never stands among the arguments of a process, which
  # everybody on this machine can read.
  # shellcheck disable=SC2016 # for the inner shell
  MCP_HOST_SECRET=$MCP_HOST_SECRET start bash -c 'log=$1; shift
for name in $(compgen -e); do [[ $name == PATH || $name == MCP_HOST_SECRET ]] || unset "$name"; done
exec "$@" 2>"$log"' mcp-host "$log" \
    "$MCP_HOST_BINARY" --port 0 --packages "$MCP_HOST_PACKAGES" "$@"
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
  MCP_HOST_URL="http://$address"
}
