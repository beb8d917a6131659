"""The folder of a run: `run.json` says what the run is, and `results.jsonl` has a line for every question that is done.

A later line about a question replaces an earlier one. A line that a killed run left incomplete is ignored.
"""

import fcntl
import json
import os
import secrets
import threading
from pathlib import Path


class BadFolder(Exception):
    """Why a folder cannot be used."""


class Results:
    def __init__(self, folder: Path, settings: dict):
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self.run_id = self._checked_run(settings)
        self._lock = threading.Lock()
        self._file = (folder / "results.jsonl").open("a+b")
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise BadFolder(f"Another run uses {folder}") from None
        self.by_id: dict[str, dict] = {}
        self.attempts: dict[str, int] = {}
        self._read()

    def _checked_run(self, settings: dict) -> str:
        """The id of the run. A folder holds one run: another model or other questions need another folder."""
        path = self.folder / "run.json"
        if not path.exists():
            run_id = secrets.token_hex(4)
            new = path.with_suffix(".new")
            new.write_text(json.dumps({"run_id": run_id, "settings": settings}, indent=2) + "\n")
            new.replace(path)
            return run_id
        try:
            run = json.loads(path.read_text())
            kept, run_id = run["settings"], run["run_id"]
        except (ValueError, KeyError, TypeError):
            raise BadFolder(f"{path} is damaged; choose another --out") from None
        if changed := [name for name in settings if kept.get(name) != settings[name]]:
            told = "; ".join(f"{it} was {kept.get(it)!r} and is {settings[it]!r}" for it in changed)
            raise BadFolder(f"{self.folder} holds a run with other settings: {told}. Choose another --out")
        return run_id

    def _read(self) -> None:
        self._file.seek(0)
        content = self._file.read()
        for line in content.splitlines():
            try:
                row = json.loads(line)
                self._keep(row)
            except (ValueError, KeyError, TypeError):
                continue
        if content and not content.endswith(b"\n"):
            self._file.write(b"\n")
            self._file.flush()

    def _keep(self, row: dict) -> None:
        self.by_id[row["id"]] = row
        self.attempts[row["id"]] = row["attempt"]

    def add(self, row: dict) -> None:
        """Keeps a row, on disk before this returns."""
        with self._lock:
            self._file.write(json.dumps(row, ensure_ascii=False).encode() + b"\n")
            self._file.flush()
            os.fsync(self._file.fileno())
            self._keep(row)

    def write(self, name: str, content: str) -> Path:
        path = self.folder / name
        path.write_text(content)
        return path
