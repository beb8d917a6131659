"""The tasks of all notes."""

from enum import Enum
from typing import Annotated

from covalt_toolset import tool
from pydantic import BaseModel, Field

from tools.notes import FOLDER, Note, read_notes


class Which(str, Enum):
    OPEN = "open"
    DONE = "done"
    ALL = "all"


class Tasks(BaseModel):
    count: int
    markdown: str


@tool(name="List Tasks", description="List the tasks of all notes, grouped by note")
def list_tasks(
    which: Annotated[Which, Field(description="Which tasks")] = Which.OPEN,
    folder: Annotated[str, Field(description="The folder with the notes")] = FOLDER,
) -> Tasks:
    listed = [(note.title, task_lines(note, which)) for note in read_notes(folder)]
    parts = ["\n".join([f"## {title}", "", *lines]) for title, lines in listed if lines]
    return Tasks(count=sum(len(lines) for _, lines in listed), markdown="\n\n".join(parts) or "*No tasks.*")


def task_lines(note: Note, which: Which) -> list[str]:
    wanted = {Which.OPEN: {False}, Which.DONE: {True}, Which.ALL: {False, True}}[which]
    return [f"- [{'x' if task.done else ' '}] {task.text}" for task in note.tasks if task.done in wanted]
