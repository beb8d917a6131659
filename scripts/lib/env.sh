# shellcheck shell=bash
# Sourced by every script: folders, messages, and the variables that keep the tools quiet.

# The root of this clone. node_modules, target, build, dist and .wrangler live under it.
ROOT="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)"
cd "$ROOT" || exit

# Tools are shared by all clones of one user, one directory for each tool and version.
# shellcheck disable=SC2034 # read by tools.sh
CACHE="${PEGBOARD_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/pegboard}"

# Progress goes to stderr, so that stdout holds only the result of a script.
say() { printf '%s\n' "$*" >&2; }
die() {
  say "error: $*"
  exit 1
}

# wrangler sends no telemetry, prints no banner with an update check, keeps no logs or registry of running Workers in the
# home directory, and does not fetch a sample `request.cf` from the network.
export WRANGLER_SEND_METRICS=false
export WRANGLER_SEND_ERROR_REPORTS=false
export WRANGLER_HIDE_BANNER=true
export WRANGLER_NO_SKILLS_UPDATE_PROMPTS=true
export WRANGLER_LOG_PATH="$ROOT/.wrangler/logs"
export WRANGLER_REGISTRY_PATH="$ROOT/.wrangler/registry"
export WRANGLER_CACHE_DIR="$ROOT/.wrangler/cache"
export CLOUDFLARE_CF_FETCH_ENABLED=false
