"""Reads and writes the files of an application. The functions are plain: they have no decorator, and get the workspace as an
argument."""

from pathlib import Path


def write_file(workspace: Path, path: str, content: str) -> dict:
    """Write content to a file, and make the directories above it."""
    target = inside(workspace, path)
    target.parent.mkdir(parents=True, exist_ok=True)
    size = target.write_bytes(content.encode())
    return {"written": path, "size": size}


def read_file(workspace: Path, path: str) -> dict:
    """Read a text file."""
    try:
        content = inside(workspace, path).read_bytes()
        return {"path": path, "content": content.decode(), "size": len(content)}
    except FileNotFoundError:
        raise FileNotFoundError(f"the workspace has no file {path}") from None
    except UnicodeDecodeError:
        raise ValueError(f"{path} is not a text in UTF-8") from None


def inside(workspace: Path, path: str) -> Path:
    """The place of a path in the workspace. `/index.html` and `index.html` are the same file, as in Pegboard's API."""
    parts = Path(path.lstrip("/")).parts
    if not parts or ".." in parts:
        raise ValueError(f"{path!r} is no path of a file in the workspace")
    return workspace.joinpath(*parts)
