"""Reads docstrings: the text about the function, and the description of each parameter.

Three styles are known, and may be mixed: Google (`Args:` and indented entries), NumPy (`Parameters`, underlined) and
Sphinx (`:param name: text`, also with `@`). A docstring is written by hand, so nothing in it is an error: what does not
look like one of the styles describes no parameter.
"""

import inspect
import re

MAX_CHARACTERS = 100_000
MAX_TEXT_CHARACTERS = 500  # The longest description that a tool of Pegboard may have.
MAX_DESCRIPTION_CHARACTERS = 2_000

PARAMETERS = {
    *("args", "arguments", "params", "parameters", "keyword args", "keyword arguments", "keyword parameters"),
    *("other args", "other arguments", "other params", "other parameters"),
}
ANSWERS = {"return", "returns", "yield", "yields", "raise", "raises"}
SECTIONS = {
    *PARAMETERS,
    *ANSWERS,
    *("attributes", "example", "examples", "exceptions", "methods", "note", "notes", "receives", "references"),
    *("see also", "throws", "todo", "usage", "warning", "warnings", "warns"),
}

_heading = re.compile(r"([A-Za-z][A-Za-z ]{0,30}?)\s*:\s*(.*)\Z").match
_underline = re.compile(r"-{3,}\s*\Z").match
_field = re.compile(
    r"[:@](?:(param|parameter|arg|argument|key|keyword)|type|vartype|rtype|ytype|returns?|yields?|raises?|exception|except"
    r"|var|ivar|cvar|meta)\b([^:]{0,300}):\s*(.*)\Z"
).match
_google_entry = re.compile(r"(?:[-*•]\s+)?`{0,2}(?:\\?\*){0,2}(\w+)`{0,2}\s*(?:\(.*?\)\s*)?:(?!:)\s*(.*)\Z").match
_numpy_entry = re.compile(r"((?:\\?\*){0,2}\w+(?:\s*,\s*(?:\\?\*){0,2}\w+){0,50})\s*(?::.*)?\Z").match
_listed = re.compile(r"\s|[-*•>]\s|\d+[.)]\s").match


def read(docstring):
    """The text, or none; and the descriptions of parameters by name."""
    if not isinstance(docstring, str):
        return None, {}
    lines = _lines(docstring[:MAX_CHARACTERS])
    text, described = [], {}
    at, in_text = 0, True
    while at < len(lines):
        title, body = _section(lines, at)
        if title is not None:
            end = _end(lines, body)
            if title in PARAMETERS:
                _entries(lines[body:end], described)
        elif found := _field(lines[at]):
            end = _end_of_field(lines, at)
            if found[1] and (words := found[2].split()):
                _describe(described, words[-1], [found[3], *lines[at + 1 : end]])
        else:
            in_text = in_text and not lines[at].startswith(">>>")
            if in_text:
                text.append(lines[at])
            at += 1
            continue
        at, in_text = end, False
    return _text(text), described


def _lines(docstring):
    """The lines without the indentation that all but the first have. The body of a heading in the first line keeps it."""
    lines = [line.rstrip() for line in inspect.cleandoc(docstring).splitlines()]
    body = next((line for line in lines[1:] if line), " ")
    if not body.startswith(" ") and not _underline(lines[1]) and _section(lines, 0)[0] is not None:
        for at in range(1, len(lines)):
            if _section(lines, at)[0] is not None or _field(lines[at]):
                break
            lines[at] = lines[at] and "    " + lines[at]
    return lines


def _section(lines, at):
    """The title of the section that begins at a line, in lower case, and where the section's body begins."""
    line = lines[at]
    if at + 1 < len(lines) and line and not line.startswith(" ") and _underline(lines[at + 1]):
        return line.rstrip(" :").lower(), at + 2
    found = _heading(line)
    title = found and found[1].lower()
    if title in SECTIONS and (not found[2] or title in ANSWERS):
        return title, at + 1
    return None, at


def _end(lines, at):
    """Where a section ends: at the next section or field, or after a blank line at text that is not indented.

    The entries of NumPy's style are not indented, and may have blank lines between them.
    """
    underlined = at >= 2 and bool(_underline(lines[at - 1]))
    while at < len(lines):
        if _section(lines, at)[0] is not None or _field(lines[at]):
            return at
        if not underlined and lines[at] and not lines[at].startswith(" "):
            return at
        at += 1
    return at


def _end_of_field(lines, at):
    """A field goes on in the following lines. After a blank line, only indented lines belong to the field."""
    at += 1
    blank = False
    while at < len(lines):
        line = lines[at]
        if line and not line.startswith(" ") and (blank or _field(line) or _section(lines, at)[0] is not None):
            return at
        blank = blank or not line
        at += 1
    return at


def _entries(lines, described):
    base = next((_indent(line) for line in lines if line), 0)
    matches = _google_entry if base else _numpy_entry
    names, body = [], []
    for line in [*lines, None]:
        found = line and _indent(line) <= base and matches(line.strip())
        if line is not None and not found:
            body.append(line)
            continue
        for name in names:
            _describe(described, name, body)
        if found:
            names, body = ([found[1]], [found[2]]) if base else (found[1].split(","), [])


def _indent(line):
    return len(line) - len(line.lstrip())


def _describe(described, name, lines):
    text = _joined(" ".join(line.strip() for line in part) for part in _paragraphs(lines))
    if text:
        described.setdefault(name.strip(" *\\`"), text[:MAX_DESCRIPTION_CHARACTERS])


def _text(lines):
    """The paragraphs that fit into a description. The first one is cut if even it does not fit."""
    told = ""
    for part in _paragraphs(lines):
        paragraph = part[0]
        for line in part[1:]:
            paragraph += ("\n" if _listed(line) else " ") + line
        if told and len(told) + 2 + len(paragraph) > MAX_TEXT_CHARACTERS:
            break
        told = _joined((told, paragraph) if told else (paragraph,))
    return (told if len(told) <= MAX_TEXT_CHARACTERS else told[: MAX_TEXT_CHARACTERS - 1] + "…") or None


def _paragraphs(lines):
    part = []
    for line in [*lines, ""]:
        if line:
            part.append(line)
        elif part:
            yield part
            part = []


def _joined(paragraphs):
    return "\n\n".join(paragraphs).strip()
