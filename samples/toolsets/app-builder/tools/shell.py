"""Runs commands. This works where processes can be started, and Pegboard's sandbox starts none."""

import subprocess
from pathlib import Path


def run_command(workspace: Path, command: str) -> dict:
    """Run a shell command, and return what it prints."""
    try:
        done = subprocess.run(command, shell=True, cwd=workspace, capture_output=True, text=True)
    except PermissionError:
        raise RuntimeError(f"cannot run {command!r}: tools run in a sandbox without processes") from None
    return {"command": command, "output": done.stdout + done.stderr, "exit_code": done.returncode}
