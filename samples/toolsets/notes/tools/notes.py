"""Notes: Markdown files in one folder of the session. The first lines of a note have its title, its day and its tags."""

import re
import unicodedata
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Annotated

from covalt_toolset import get_context, tool
from pydantic import BaseModel, Field

FOLDER = "notes"
TASK = re.compile(r"^\s*[-*] \[(?P<mark>[ xX])\] (?P<text>.+)$", re.MULTILINE)

Tag = Annotated[str, Field(pattern=r"^[\w-]{1,40}$")]


class Saved(BaseModel):
    """Where a text was written."""

    path: str = Field(description="Path of the file in the session")
    words: int


@tool(name="Add Note", description="Write a note in Markdown to the session; tasks are lines that begin with - [ ]")
def add_note(
    title: Annotated[str, Field(min_length=1, max_length=120, description="What the note is about")],
    text: Annotated[str, Field(min_length=1, description="The note, in Markdown, without its title")],
    tags: Annotated[list[Tag], Field(max_length=10, description="Words to find the note by")] = [],
    day: Annotated[date | None, Field(description="The day of the note; today, if it is left out")] = None,
) -> Saved:
    note = Note(title=" ".join(title.split()), day=day or date.today(), tags=sorted(set(tags)), text=text.strip())
    return save(f"{FOLDER}/{note.day}-{slug(note.title)}", note.written())


@dataclass(frozen=True)
class Task:
    text: str
    done: bool


@dataclass(frozen=True)
class Note:
    title: str
    day: date | None
    tags: list[str]
    text: str

    @property
    def tasks(self) -> list[Task]:
        return [Task(found["text"].strip(), found["mark"] != " ") for found in TASK.finditer(self.text)]

    def written(self) -> str:
        head = [f"# {self.title}", "", f"Date: {self.day}"]
        if self.tags:
            head.append(f"Tags: {', '.join(self.tags)}")
        return "\n".join([*head, "", self.text, ""])


def read_notes(folder: str) -> list[Note]:
    """All notes below a folder of the session, the oldest first. Every Markdown file is a note, whoever wrote it."""
    place = get_context().workspace / folder.strip("/")
    files = sorted(place.rglob("*.md"))
    if not files:
        raise ValueError(f"the folder /{folder.strip('/')} has no Markdown files: add a note first")
    notes = [parsed(file.stem, file.read_text(errors="replace")) for file in files]
    return sorted(notes, key=lambda note: (note.day or date.min, note.title))


def parsed(name: str, text: str) -> Note:
    """A note as a person may have changed it: each line of its head may be missing."""
    title, day, tags = name, None, []
    lines = text.strip().splitlines()
    while lines:
        line = lines[0].strip()
        if line.startswith("# "):
            title = line[2:].strip()
        elif line.startswith("Date: "):
            day = read_day(line[6:])
        elif line.startswith("Tags: "):
            tags = [tag.strip() for tag in line[6:].split(",") if tag.strip()]
        elif line:
            break
        lines.pop(0)
    return Note(title, day, tags, "\n".join(lines).strip())


def read_day(text: str) -> date | None:
    try:
        return date.fromisoformat(text.strip())
    except ValueError:
        return None


def slug(title: str) -> str:
    """A title as a part of a file name."""
    plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:60] or "note"


def save(stem: str, text: str) -> Saved:
    """Writes a new Markdown file. A file that is there already stays: the new one gets a number."""
    workspace: Path = get_context().workspace
    name, number = f"{stem}.md", 2
    while (workspace / name).exists():
        name, number = f"{stem}-{number}.md", number + 1
    (workspace / name).parent.mkdir(parents=True, exist_ok=True)
    (workspace / name).write_text(text)
    return Saved(path=f"/{name}", words=len(text.split()))
