#!/bin/sh
# collect.sh OUT PROGRAM PACKAGES: makes in OUT a root file system of the program, Python, its packages, and the libraries of
# all of them.
set -eu
out=$1
program=$2
packages=$3

python=
for each in /usr/local/bin/python3 /usr/bin/python3; do
  [ -n "$python" ] || [ ! -x "$each" ] || python=$each
done
[ -n "$python" ] || { echo "collect.sh: there is no Python in the base image" >&2; exit 1; }
real=$(readlink -f "$python")
stdlib=$("$real" -I -S -c 'import sys; print([each for each in sys.path if not each.endswith((".zip", "lib-dynload"))][0])')

# take PATH...: copies a path with its parent folders, and follows links.
take() {
  cp --parents --dereference --recursive --preserve=mode,timestamps "$@" "$out"
}

mkdir -p "$out/tmp" "$out/proc" "$out$(dirname "$python")"
take "$program" "$real" "$stdlib" "$packages"
# Calls on files have their folders here where no file system can be mounted for them.
chmod 1777 "$out/tmp"
[ "$python" = "$real" ] || ln -s "$real" "$out$python"

# No tool needs these folders, and some are large.
for each in test idlelib tkinter turtledemo ensurepip lib2to3 site-packages dist-packages; do
  rm -rf "${out:?}$stdlib/$each"
done
rm -rf "$out$stdlib"/config-*
# pip's own notes about the packages.
rm -rf "${out:?}$packages"/*.dist-info "${out:?}${packages:?}/bin"
# Python modules are compiled now: nobody can write there later, and compiling takes longer than the rest of a start. The
# sources never change, so Python need not check them.
"$real" -I -S -m compileall -q -f --invalidation-mode unchecked-hash "$out$stdlib" "$out$packages" -s "$out"

# The libraries of the program and of Python, including the loader, and the loader's cache.
find "$out$stdlib" "$out$packages" -name '*.so' >/tmp/linked
printf '%s\n' "$program" "$real" >>/tmp/linked
while read -r each; do ldd "$each"; done </tmp/linked | grep -o '/[^ ]*\.so[^ ]*' | sort -u >/tmp/libraries
while read -r each; do take "$each"; done </tmp/libraries
[ ! -e /etc/ld.so.cache ] || take /etc/ld.so.cache
