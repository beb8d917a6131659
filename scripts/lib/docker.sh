# shellcheck shell=bash
# Sourced: tells whether a Docker engine answers. It asks the same program that wrangler would use.

docker_answers() {
  local docker=${WRANGLER_DOCKER_BIN:-docker}
  command -v "$docker" >/dev/null && "$docker" info >/dev/null 2>&1
}
