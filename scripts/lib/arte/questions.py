"""Reads a file of questions: JSON Lines, or one JSON list, in ART-E's columns or in those of samples/enron."""

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path

# Questions of ART-E's own dataset whose answers are wrong.
KNOWN_BAD = frozenset({49, 101, 129, 171, 208, 266, 327})


class BadQuestions(Exception):
    """Why a file cannot be used, with the line."""


@dataclass(frozen=True)
class Question:
    id: str
    question: str
    # None: only the citations can be judged.
    answer: str | None
    message_ids: tuple[str, ...]
    inbox: str
    date: str | None


@dataclass(frozen=True)
class Questions:
    all: list[Question]
    left_out: int
    digest: str


def read(path: Path) -> Questions:
    try:
        content = path.read_bytes()
        rows = parsed(content.decode())
    except OSError as error:
        raise BadQuestions(f"{path}: {error.strerror}") from None
    except ValueError as error:
        raise BadQuestions(f"{path} is no JSON Lines: {error}") from None
    found: dict[str, Question] = {}
    left_out = 0
    for place, row in rows:
        if is_left_out(row):
            left_out += 1
            continue
        try:
            question = of_row(row, place)
        except (KeyError, TypeError) as error:
            raise BadQuestions(f"{path}:{place}: {told(error)}") from None
        if question.id in found:
            raise BadQuestions(f"{path}:{place}: the id {question.id} comes twice")
        found[question.id] = question
    if not found:
        raise BadQuestions(f"{path} has no questions")
    return Questions(list(found.values()), left_out, hashlib.sha256(content).hexdigest()[:16])


def parsed(text: str) -> list[tuple[int, dict]]:
    """The rows, each with its line or number."""
    if text.lstrip().startswith("["):
        return list(enumerate(json.loads(text), 1))
    return [(number, json.loads(line)) for number, line in enumerate(text.splitlines(), 1) if line.strip()]


def is_left_out(row: dict) -> bool:
    """ART-E leaves out questions with several messages, and those with wrong answers. Only its rows tell how realistic a
    question is, and only its ids are known."""
    is_of_arte = isinstance(row, dict) and "how_realistic" in row
    return is_of_arte and (len(row.get("message_ids") or []) > 1 or row.get("id") in KNOWN_BAD)


def of_row(row: dict, place: int) -> Question:
    inbox = row.get("inbox_address") or row.get("inbox")
    if not isinstance(inbox, str):
        raise KeyError("inbox_address")
    answer, date = row.get("answer"), row.get("query_date")
    if not isinstance(row["question"], str) or not isinstance(answer, str | None):
        raise TypeError("question and answer must be texts")
    return Question(
        id=str(row.get("id", place)),
        question=row["question"],
        answer=answer,
        message_ids=tuple(str(it) for it in row["message_ids"]),
        inbox=inbox,
        # ART-E's dates have a time, which its prompt does not show.
        date=str(date)[:10] if date else None,
    )


def told(error: Exception) -> str:
    return f"{error.args[0]} is missing" if isinstance(error, KeyError) else str(error)
