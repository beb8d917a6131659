"""Texts for messages: the place of a value in a JSON document, a type's name, an exception."""

import re

MAX_PART_CHARACTERS = 60
MAX_PLACE_CHARACTERS = 200
MAX_TEXT_CHARACTERS = 400

_plain = re.compile(r"[^\W\d][\w-]*\Z").match

name_of = vars(type)["__name__"].__get__  # A class may lie about its own __name__.


def place(parts):
    """`("items", 2, "unit price")` is `items[2]["unit price"]`."""
    written = ""
    for part in parts:
        if isinstance(part, int):
            written += f"[{part}]"
        elif _plain(part):
            written += f".{shortened(part)}" if written else shortened(part)
        else:
            written += f'["{shortened(part)}"]'
    half = MAX_PLACE_CHARACTERS // 2
    return written if len(written) <= MAX_PLACE_CHARACTERS else f"{written[:half]}…{written[-half:]}"


def shortened(text, most=MAX_PART_CHARACTERS):
    return text if len(text) <= most else text[: most - 1] + "…"


def told(error):
    """An exception in one line."""
    name, text = name_of(type(error)), text_of(error)
    return shortened(f"{name}: {text}" if text else name, MAX_TEXT_CHARACTERS)


def text_of(error):
    """The text of an exception in one line. Its class may be one that fails when the text is asked for."""
    try:
        return " ".join(str(error).split())
    except Exception:
        return ""
