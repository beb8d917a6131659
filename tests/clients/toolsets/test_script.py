"""scripts/toolset: what it packs, and what it says."""

import shutil
import zipfile
from pathlib import Path

from conftest import SAMPLES

MANIFEST = """\
manifest_version: "1"
id: words
name: Words
version: "{version}"
tools:
  - id: count
    entrypoint: tools.words:count
"""
CODE = 'def count(text: str) -> int:\n    """Count the words of a text."""\n    return len(text.split())\n'


def folder(place: Path, version: str = "1.0.0", code: str = CODE, more: str = "") -> Path:
    made = place / "words"
    (made / "tools").mkdir(parents=True, exist_ok=True)
    (made / "toolset.yaml").write_text(MANIFEST.format(version=version) + more)
    (made / "tools/words.py").write_text(code)
    return made


def test_packing_is_reproducible(pegboard, tmp_path):
    for name in ("one", "two"):
        shutil.copytree(SAMPLES / "notes", tmp_path / name / "notes", copy_function=shutil.copyfile)
    litter = tmp_path / "two/notes/tools/__pycache__"
    litter.mkdir()
    for path in (litter / "x.cpython-311.pyc", tmp_path / "two/notes/.DS_Store", tmp_path / "two/notes/tools/old.pyc"):
        path.write_bytes(b"x")
    packed = [pegboard.script("pack", tmp_path / it / "notes", "--no-check").stdout.strip() for it in ("one", "two")]
    assert packed == [str(tmp_path / it / "notes-1.0.0.zip") for it in ("one", "two")]
    assert Path(packed[0]).read_bytes() == Path(packed[1]).read_bytes()
    with zipfile.ZipFile(packed[0]) as archive:
        assert archive.testzip() is None
        assert archive.namelist() == sorted(archive.namelist())
        assert "toolset.yaml" in archive.namelist() and "README.md" in archive.namelist()


def test_a_check_writes_nothing(pegboard, tmp_path):
    target = tmp_path / "my.zip"
    done = pegboard.script("pack", folder(tmp_path), "-o", target)
    assert done.stdout.strip() == str(target) and target.exists()
    assert "words 1.0.0 can be imported: 1 tool, 1 file" in done.stderr
    assert pegboard.get("/api/toolsets")["toolsets"] == []


def test_warnings_have_file_and_line(pegboard, tmp_path):
    done = pegboard.script("pack", SAMPLES / "app-builder", "-o", tmp_path / "a.zip")
    assert "warning: tools/shell.py:3: " in done.stderr


def test_every_fault_is_told_as_the_import_tells_it(pegboard, tmp_path):
    wrong = folder(tmp_path, more="    colour: red\n  - id: more\n    entrypoint: tools.none:more\n")
    for command in ("pack", "push"):
        done = pegboard.script(command, wrong, status=1)
        told = done.stderr.splitlines()
        assert any(it.startswith("toolset.yaml:8: /tools/0/colour: ") for it in told), told
        assert any(it.startswith("toolset.yaml:10: /tools/1/entrypoint: ") for it in told), told
        assert done.stdout == ""
    assert not (tmp_path / "words-1.0.0.zip").exists()
    assert pegboard.get("/api/toolsets")["toolsets"] == []


def test_code_that_does_not_load_is_a_fault(pegboard, tmp_path):
    done = pegboard.script("pack", folder(tmp_path, code="def count(text: str):\n    return (\n"), status=1)
    assert "/tools/0/entrypoint" in done.stderr and "SyntaxError" in done.stderr


def test_a_push_tells_what_it_changes(pegboard, tmp_path):
    first = pegboard.script("push", folder(tmp_path)).stdout.splitlines()
    assert first[0] == f"words 1.0.0 is installed in the workspace {pegboard.workspace}: 1 tool, 1 file"
    assert [it.split() for it in first[1:]] == [["added", "tool", "words:count"], ["added", "file", "tools/words.py"]]
    assert pegboard.result("words:count", {"text": "to be or not"}) == 4

    again = pegboard.script("push", folder(tmp_path), status=1)
    assert "replace" in again.stderr

    shorter = folder(tmp_path, "1.1.0", CODE.replace("text.split()", "set(text.split())"))
    second = pegboard.script("push", shorter, "--replace").stdout.splitlines()
    assert ["changed", "file", "tools/words.py"] in [it.split() for it in second]
    assert pegboard.result("words:count", {"text": "to be or not to be"}) == 4

    older = pegboard.script("push", folder(tmp_path), "--replace", status=1)
    assert "downgrade" in older.stderr
    pegboard.script("push", folder(tmp_path), "--downgrade")
    assert pegboard.get("/api/toolsets/words")["version"] == "1.0.0"


def test_no_folder_no_link_no_manifest(pegboard, tmp_path):
    assert "is no folder" in pegboard.script("pack", tmp_path / "none", status=1).stderr
    assert "has no toolset.yaml" in pegboard.script("push", tmp_path, status=1).stderr
    linked = folder(tmp_path)
    (linked / "assets").symlink_to("/etc")
    assert "is a symbolic link" in pegboard.script("push", linked, status=1).stderr
    assert pegboard.script("pack", status=2).stderr.startswith("usage: ")
