# shellcheck shell=bash
# Sourced after env.sh: runs steps with a banner and a duration, and prints a summary however the script ends.

STEP=
SUMMARY=()

# step NAME COMMAND...
step() {
  STEP=$1
  local began=$SECONDS
  shift
  printf '\n==> %s\n' "$STEP"
  "$@"
  SUMMARY+=("$(printf 'ok    %4d s  %s' $((SECONDS - began)) "$STEP")")
  STEP=
}

summary() {
  printf '\n'
  [[ ${#SUMMARY[@]} -eq 0 ]] || printf '%s\n' "${SUMMARY[@]}"
  if [[ -n $STEP ]]; then
    printf 'FAILED        %s\n' "$STEP"
  else
    printf 'ok    %4d s  in all\n' "$SECONDS"
  fi
}
