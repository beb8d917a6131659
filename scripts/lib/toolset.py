"""Packs a folder as the bundle of a toolset, and sends it to a Pegboard: the work of scripts/toolset.

    toolset.py pack DIR ZIP             writes the ZIP
    toolset.py name DIR                 prints the name of the ZIP, <id>-<version>.zip
    toolset.py check ZIP                asks a Pegboard what an import would say
    toolset.py push ZIP [--replace] [--downgrade]

`check` and `push` take the Pegboard from PEGBOARD_URL, PEGBOARD_WORKSPACE and PEGBOARD_TOKEN. `check --serve STATE` starts
one on that state instead, from dist/ with each `--var NAME=VALUE`. Only the standard library is needed.

Status 1: there are faults, which stand on stderr as `file:line: path: message`. Status 3: no Pegboard answers.
"""

import argparse
import contextlib
import json
import os
import re
import stat
import subprocess
import sys
import urllib.error
import urllib.parse
import urllib.request
import zipfile
from collections.abc import Iterator
from pathlib import Path

MANIFESTS = ("toolset.yaml", "toolset.yml")
DATE = (1980, 1, 1, 0, 0, 0)
# The sandbox loads every module of a bundle, and a container may have to start first.
TIMEOUT_SECONDS = 300
NO_PEGBOARD = 3
KINDS = {"tools": "tool", "files": "file", "overrides": "override", "mcp_servers": "MCP server"}


class Refused(Exception):
    """Why something cannot be done, in one line or several."""


class NoPegboard(Exception):
    """No server answers at the address."""


def pack(folder: Path, target: Path) -> None:
    """Writes the bundle. The same files always give the same bytes."""
    files = dict(packed_files(folder))
    if not any(name in files for name in MANIFESTS):
        raise Refused(f"error: {folder} has no toolset.yaml")
    with zipfile.ZipFile(target, "w") as archive:
        for name in sorted(files):
            entry = zipfile.ZipInfo(name, DATE)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.create_system = 3  # Unix, on every system.
            entry.external_attr = (stat.S_IFREG | 0o644) << 16
            archive.writestr(entry, files[name].read_bytes(), compresslevel=9)


def packed_files(folder: Path) -> Iterator[tuple[str, Path]]:
    """The files of a bundle: all but hidden ones and those that Python leaves behind."""
    if not folder.is_dir():
        raise Refused(f"error: {folder} is no folder")
    for entry in folder.iterdir():
        if entry.name.startswith(".") or entry.name == "__pycache__" or entry.suffix == ".pyc":
            continue
        if entry.is_symlink():
            raise Refused(f"error: {entry} is a symbolic link, and a bundle holds plain files only")
        if entry.is_dir():
            yield from ((f"{entry.name}/{name}", path) for name, path in packed_files(entry))
        else:
            yield entry.name, entry


def bundle_name(folder: Path) -> str:
    """<id>-<version>.zip. Python has no reader of YAML, so both must stand at the left margin, each in one line."""
    manifest = next((folder / name for name in MANIFESTS if (folder / name).is_file()), None)
    if manifest is None:
        raise Refused(f"error: {folder} has no toolset.yaml" if folder.is_dir() else f"error: {folder} is no folder")
    text = manifest.read_text(encoding="utf-8", errors="replace")
    found = [re.search(rf"""^{field}: *["']?([\w.+-]+)["']? *(#.*)?$""", text, re.MULTILINE) for field in ("id", "version")]
    if None in found:
        raise Refused(f"error: {manifest}: id and version are not to be seen; name the ZIP with -o")
    return "-".join(it[1] for it in found) + ".zip"


class Pegboard:
    """One workspace of a running Pegboard."""

    def __init__(self, url: str):
        self.url = url.rstrip("/")
        self.workspace = os.environ.get("PEGBOARD_WORKSPACE") or "demo"

    def import_bundle(self, zip_file: Path, **options: bool) -> dict:
        """Sends the bundle. Raises Refused with every fault."""
        query = urllib.parse.urlencode({name: "true" for name, given in options.items() if given})
        headers = {"Content-Type": "application/zip", "X-Workspace-Id": self.workspace}
        if token := os.environ.get("PEGBOARD_TOKEN"):
            headers["Authorization"] = f"Bearer {token}"
        request = urllib.request.Request(f"{self.url}/api/toolsets?{query}", zip_file.read_bytes(), headers, method="POST")
        try:
            with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS) as response:
                return json.load(response)
        except urllib.error.HTTPError as error:
            raise Refused(self.told(error.code, error.read())) from None
        except (urllib.error.URLError, ConnectionError, TimeoutError) as error:
            raise NoPegboard(f"No Pegboard answers at {self.url}: {getattr(error, 'reason', error)}") from None

    def told(self, status: int, body: bytes) -> str:
        try:
            error = json.loads(body)["error"]
            problems = (error.get("details") or {}).get("problems")
            if problems:
                return "\n".join(line(it) for it in problems)
            options = " (here: --replace, --downgrade)" if status == 409 and "replace" in error["message"] else ""
            return f"error: {error['message']}{options}"
        except (ValueError, KeyError, TypeError, AttributeError):
            return f"error: {self.url} answered {status}: {body[:200].decode(errors='replace')}"


def line(note: dict) -> str:
    """A fault or a warning as `file:line: path: message`, without the parts that it does not have. Further lines of a message,
    such as those of a traceback, are indented."""
    place = ":".join(str(it) for it in (note.get("file"), note.get("line")) if it)
    return ": ".join(it for it in (place, note.get("path"), note["message"]) if it).replace("\n", "\n    ")


@contextlib.contextmanager
def serving(state: str, variables: list[str]) -> Iterator[str]:
    """Starts a Pegboard for this process alone, and yields its URL."""
    command = ["node", "scripts/lib/serve.mjs", "--state", state]
    for variable in variables:
        command += ["--var", variable]
    root = Path(__file__).parents[2]
    # The server ends with its stdin, and so even if this process is killed.
    with subprocess.Popen(command, cwd=root, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        ready = server.stdout.readline()
        if not ready:
            raise Refused("error: the Pegboard for the check did not start: see above")
        try:
            yield json.loads(ready)["url"]
        finally:
            server.stdin.close()


def check(zip_file: Path, url: str) -> None:
    # With these options a toolset that is installed already is no fault.
    told = Pegboard(url).import_bundle(zip_file, dry_run=True, replace=True, downgrade=True)
    warn(told)
    say(f"{told['id']} {told['version']} can be imported: {counts(told)}")


def push(zip_file: Path, url: str, replace: bool, downgrade: bool) -> None:
    pegboard = Pegboard(url)
    told = pegboard.import_bundle(zip_file, replace=replace or downgrade, downgrade=downgrade)
    warn(told)
    print(f"{told['id']} {told['version']} is installed in the workspace {pegboard.workspace}: {counts(told)}")
    for kind, word in KINDS.items():
        for change, names in told["changes"][kind].items():
            for name in names:
                print(f"  {change:8} {word:10} {name}")


def counts(told: dict) -> str:
    tools, servers, files = len(told["tools"]), len(told["mcp_servers"]), len(told["files"])
    parts = [(tools, "tool"), (servers, "MCP server"), (files, "file")]
    return ", ".join(f"{number} {word}{'' if number == 1 else 's'}" for number, word in parts if number)


def warn(told: dict) -> None:
    for warning in told["warnings"]:
        say(f"warning: {line(warning)}")


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="toolset.py")
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("pack", "name"):
        command = commands.add_parser(name)
        command.add_argument("folder", type=Path)
        if name == "pack":
            command.add_argument("zip", type=Path)
    for name in ("check", "push"):
        command = commands.add_parser(name)
        command.add_argument("zip", type=Path)
        if name == "check":
            command.add_argument("--serve", metavar="STATE")
            command.add_argument("--var", action="append", default=[])
        else:
            command.add_argument("--replace", action="store_true")
            command.add_argument("--downgrade", action="store_true")
    return parser.parse_args()


def main() -> None:
    given = arguments()
    url = os.environ.get("PEGBOARD_URL") or "http://127.0.0.1:8787"
    try:
        if given.command == "pack":
            pack(given.folder, given.zip)
        elif given.command == "name":
            print(bundle_name(given.folder))
        elif given.command == "push":
            push(given.zip, url, given.replace, given.downgrade)
        elif given.serve:
            with serving(given.serve, given.var) as own:
                check(given.zip, own)
        else:
            check(given.zip, url)
    except Refused as refused:
        say(str(refused))
        sys.exit(1)
    except NoPegboard as missing:
        say(str(missing))
        sys.exit(NO_PEGBOARD)


if __name__ == "__main__":
    main()
