"""One Markdown report of many notes, by a template of the bundle."""

from collections import Counter
from datetime import date
from pathlib import Path
from string import Template
from typing import Annotated, Literal

from covalt_toolset import tool
from pydantic import Field

from tools.notes import FOLDER, Note, Saved, Tag, read_notes, save, slug
from tools.tasks import Which, task_lines

TEMPLATE = Path(__file__).parent.parent / "assets" / "report.md"


class Report(Saved):
    """A report that was written."""

    notes: int
    open_tasks: int


@tool(name="Write Report", description="Make a Markdown report of the notes in the session, with open tasks and tags")
def write_report(
    title: Annotated[str, Field(min_length=1, max_length=120, description="The title of the report")],
    tags: Annotated[list[Tag], Field(max_length=10, description="Only notes with one of these tags; none means all")] = [],
    since: Annotated[date | None, Field(description="Only notes of this day and later ones")] = None,
    detail: Annotated[Literal["summary", "full"], Field(description="full repeats the text of each note")] = "full",
    folder: Annotated[str, Field(description="The folder with the notes")] = FOLDER,
) -> Report:
    notes = [note for note in read_notes(folder) if chosen(note, set(tags), since)]
    if not notes:
        raise ValueError("no note has one of these tags and this age")
    saved = save(f"reports/{slug(title)}", written(title, notes, detail))
    return Report(**saved.model_dump(), notes=len(notes), open_tasks=len(open_tasks(notes)))


def chosen(note: Note, tags: set[str], since: date | None) -> bool:
    new_enough = since is None or (note.day is not None and note.day >= since)
    return new_enough and (not tags or not tags.isdisjoint(note.tags))


def written(title: str, notes: list[Note], detail: str) -> str:
    tags = Counter(tag for note in notes for tag in note.tags)
    tasks = open_tasks(notes)
    return Template(TEMPLATE.read_text()).substitute(
        title=" ".join(title.split()),
        date=date.today().isoformat(),
        notes=counted(len(notes), "note"),
        words=counted(sum(len(note.text.split()) for note in notes), "word"),
        tasks=counted(len(tasks), "open task"),
        open_tasks="\n".join(tasks) or "None.",
        tags="\n".join(f"- {tag}: {counted(count, 'note')}" for tag, count in tags.most_common()) or "None.",
        body="\n\n".join(section(note, detail) for note in notes),
    )


def section(note: Note, detail: str) -> str:
    """A note as a part of the report: its own headings go one level down, except in blocks of code."""
    head = f"## {note.title}" + (f" ({note.day})" if note.day else "")
    if detail == "summary":
        return f"{head}\n\n{note.text.partition(chr(10) * 2)[0]}"
    lines, in_code = [], False
    for line in note.text.splitlines():
        in_code ^= line.lstrip().startswith("```")
        lines.append(f"#{line}" if line.startswith("#") and not in_code else line)
    return "\n".join([head, "", *lines])


def open_tasks(notes: list[Note]) -> list[str]:
    return [line for note in notes for line in task_lines(note, Which.OPEN)]


def counted(number: int, word: str) -> str:
    return f"{number} {word}{'' if number == 1 else 's'}"
