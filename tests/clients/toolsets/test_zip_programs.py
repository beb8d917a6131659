"""Bundles that other programs have packed are imported, and other programs open what Pegboard exports."""

import io
import os
import shutil
import stat
import subprocess
import zipfile
from pathlib import Path

import pytest

MANIFEST = """manifest_version: "1"
id: packed
name: Packed
version: "1.0.0"
tools:
  - {id: shout, entrypoint: "tools.words:shout"}
tool_overrides:
  - {tool_id: shout, renderer: html, renderer_config: {artifact: artifacts/page.html, data: $return}}
"""
CODE = "def shout(workspace, text: str) -> str:\n    return text.upper()\n"
FILES = {
    "toolset.yaml": MANIFEST.encode(),
    "tools/words.py": CODE.encode(),
    "artifacts/page.html": b"<html><head></head><body></body></html>",
    "assets/empty": b"",
    "assets/noise.bin": bytes(range(256)) * 300,
    "assets/sp ace/\u65e5\u672c \u00e4.txt": "\u00e4".encode(),
    "assets/long.txt": b"the same line again\n" * 20_000,
}

SEVEN_ZIP = os.environ.get("SEVEN_ZIP") or shutil.which("7z") or shutil.which("7za") or shutil.which("7zz")
needs_seven_zip = pytest.mark.skipif(not SEVEN_ZIP, reason="there is no 7-Zip on this machine")


@pytest.fixture
def folder(tmp_path) -> Path:
    """The files of the bundle, in the folder `packed`."""
    for path, contents in FILES.items():
        target = tmp_path / "packed" / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(contents)
    return tmp_path / "packed"


def run(*command: object, cwd: Path | None = None, **more) -> subprocess.CompletedProcess:
    done = subprocess.run([str(it) for it in command], cwd=cwd, capture_output=True, timeout=60, **more)
    assert done.returncode == 0, f"{command}: {done.returncode}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"
    return done


def imported(pegboard, archive: bytes) -> None:
    """Imports the archive, and checks that everything in it has arrived."""
    made = pegboard.ask("POST", "/api/toolsets", 201, data=archive).json()
    sizes = {it["path"]: it["size"] for it in made["files"]}
    assert sizes == {path: len(contents) for path, contents in FILES.items() if path != "toolset.yaml"}
    assert made["warnings"] == []
    assert pegboard.result("packed:shout", {"text": "hello"}) == "HELLO"
    for path in ("assets/noise.bin", "assets/sp ace/\u65e5\u672c \u00e4.txt"):
        assert pegboard.ask("GET", f"/api/toolsets/packed/files/{path}").content == FILES[path]


def exported(pegboard) -> bytes:
    return pegboard.ask("GET", "/api/toolsets/packed/export").content


class TestImported:
    @pytest.mark.parametrize("options", [["-r"], ["-r", "-0"], ["-r", "-9"], ["-r", "-X"], ["-r", "-D"]], ids=" ".join)
    def test_of_zip(self, pegboard, folder, options):
        run("zip", *options, "../packed.zip", ".", cwd=folder)
        imported(pegboard, (folder.parent / "packed.zip").read_bytes())

    def test_of_zip_with_a_folder_around_everything(self, pegboard, folder):
        run("zip", "-r", "packed.zip", "packed", cwd=folder.parent)
        imported(pegboard, (folder.parent / "packed.zip").read_bytes())

    def test_of_zip_into_a_pipe(self, pegboard, folder):
        """Sizes follow the contents, because the program cannot go back."""
        imported(pegboard, run("zip", "-r", "-", ".", cwd=folder).stdout)

    @pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
    def test_of_python(self, pegboard, method):
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w", method) as archive:
            for path, contents in FILES.items():
                archive.writestr(path, contents)
        imported(pegboard, buffer.getvalue())

    def test_of_python_that_cannot_seek(self, pegboard):
        class Pipe(io.RawIOBase):
            parts: list[bytes] = []

            def writable(self):
                return True

            def write(self, data):
                self.parts.append(bytes(data))
                return len(data)

        pipe = Pipe()
        with zipfile.ZipFile(pipe, "w", zipfile.ZIP_DEFLATED) as archive:
            for path, contents in FILES.items():
                archive.writestr(path, contents)
        imported(pegboard, b"".join(pipe.parts))

    def test_of_shutil(self, pegboard, folder):
        imported(pegboard, Path(shutil.make_archive(str(folder.parent / "made"), "zip", folder)).read_bytes())

    def test_of_git(self, pegboard, folder):
        """As GitHub's download: a folder with the name of the branch, and a comment after the archive."""
        git = ["git", "-c", "user.name=x", "-c", "user.email=x@example.com"]
        run(*git, "init", "--quiet", cwd=folder)
        run(*git, "add", ".", cwd=folder)
        run(*git, "commit", "--quiet", "-m", "x", cwd=folder)
        imported(pegboard, run("git", "archive", "--format=zip", "--prefix=packed-main/", "HEAD", cwd=folder).stdout)

    def test_of_macos(self, pegboard):
        """The layout of the Finder: streamed entries, a folder around everything, resource forks, .DS_Store."""
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(zipfile.ZipInfo("packed/"), b"")
            archive.writestr("packed/.DS_Store", b"\0\0\0\1Bud1")
            archive.writestr("__MACOSX/packed/._.DS_Store", b"\0\5\x16\7")
            for path, contents in FILES.items():
                archive.writestr(f"packed/{path}", contents)
                parent, _, name = f"packed/{path}".rpartition("/")
                archive.writestr(f"__MACOSX/{parent}/._{name}", b"\0\5\x16\7")
        imported(pegboard, buffer.getvalue())

    @needs_seven_zip
    @pytest.mark.parametrize("level", [0, 5, 9])
    def test_of_seven_zip(self, pegboard, folder, level):
        run(SEVEN_ZIP, "a", "-tzip", f"-mx={level}", "../packed.zip", "./*", cwd=folder)
        imported(pegboard, (folder.parent / "packed.zip").read_bytes())

    @needs_seven_zip
    @pytest.mark.parametrize(
        ("options", "message"),
        [
            (["-mm=LZMA"], "is compressed by method 14"),
            (["-mm=BZip2"], "is compressed by method 12"),
            (["-mm=Deflate64"], "is compressed by method 9"),
            (["-psecret"], "is encrypted"),
            (["-psecret", "-mem=AES256"], "is encrypted"),
        ],
        ids=lambda it: "".join(it) if isinstance(it, list) else "",
    )
    def test_of_seven_zip_by_other_methods(self, pegboard, folder, options, message):
        run(SEVEN_ZIP, "a", "-tzip", "-mx=9", *options, "../packed.zip", "./*", cwd=folder)
        refused = pegboard.ask("POST", "/api/toolsets", 400, data=(folder.parent / "packed.zip").read_bytes()).json()
        problems = refused["error"]["details"]["problems"]
        assert any(it["file"] == "assets/long.txt" and message in it["message"] for it in problems), problems

    def test_links_of_zip_are_refused(self, pegboard, folder):
        (folder / "assets" / "link").symlink_to("/etc/passwd")
        run("zip", "-r", "-y", "../packed.zip", ".", cwd=folder)
        refused = pegboard.ask("POST", "/api/toolsets", 400, data=(folder.parent / "packed.zip").read_bytes()).json()
        assert [(it["file"], it["message"]) for it in refused["error"]["details"]["problems"]] == [
            ("assets/link", "is a symbolic link")
        ]

    def test_passwords_of_zip_are_refused(self, pegboard, folder):
        run("zip", "-r", "-P", "secret", "../packed.zip", ".", cwd=folder)
        refused = pegboard.ask("POST", "/api/toolsets", 400, data=(folder.parent / "packed.zip").read_bytes()).json()
        assert {it["message"] for it in refused["error"]["details"]["problems"]} == {"is encrypted"}


class TestExported:
    @pytest.fixture
    def archive(self, pegboard, tmp_path) -> Path:
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
            for path, contents in FILES.items():
                archive.writestr(path, contents)
        imported(pegboard, buffer.getvalue())
        (tmp_path / "out.zip").write_bytes(exported(pegboard))
        return tmp_path / "out.zip"

    @staticmethod
    def is_whole(folder: Path) -> None:
        found = {str(it.relative_to(folder)): it for it in folder.rglob("*") if it.is_file()}
        assert set(found) == set(FILES)
        assert all(found[it].read_bytes() == FILES[it] for it in FILES if it != "toolset.yaml")
        assert all(stat.S_IMODE(it.stat().st_mode) & 0o444 == 0o444 for it in found.values())

    def test_opens_in_unzip(self, archive, tmp_path):
        assert b"No errors detected" in run("unzip", "-t", archive).stdout
        run("unzip", "-q", archive, "-d", tmp_path / "there", env=os.environ | {"LC_ALL": "C.UTF-8"})
        self.is_whole(tmp_path / "there")

    def test_opens_in_zip(self, archive):
        run("zip", "-T", archive)

    def test_opens_in_python(self, archive, tmp_path):
        with zipfile.ZipFile(archive) as opened:
            assert opened.testzip() is None
            assert {it.date_time for it in opened.infolist()} == {(1980, 1, 1, 0, 0, 0)}
            opened.extractall(tmp_path / "there")
        self.is_whole(tmp_path / "there")

    @needs_seven_zip
    def test_opens_in_seven_zip(self, archive, tmp_path):
        assert b"Everything is Ok" in run(SEVEN_ZIP, "t", archive).stdout
        run(SEVEN_ZIP, "x", f"-o{tmp_path / 'there'}", archive)
        self.is_whole(tmp_path / "there")

    def test_comes_back_the_same(self, pegboard, archive):
        other = type(pegboard)(pegboard.url, pegboard.workspace[:50] + "-other")
        imported(other, archive.read_bytes())
        assert exported(other) == archive.read_bytes()
