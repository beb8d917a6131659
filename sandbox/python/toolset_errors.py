"""Tells what is wrong with arguments: all at once, each by its path, and never with the value, which may be secret."""

from toolset_paths import MAX_TEXT_CHARACTERS, place, shortened, text_of
from toolset_schema import REST

MAX_ERRORS = 20

# Texts in place of those of pydantic that quote a part of the value, or end with an address.
TEXTS = {
    "bytes_invalid_encoding": "Data should be valid {encoding}",
    "complex_str_parsing": "Input should be a valid complex number",
    "complex_type": "Input should be a valid complex number",
    "import_error": "Input should be a name that can be imported",
    "union_tag_invalid": "Input should have a {discriminator} that is one of {expected_tags}",
    "uuid_parsing": "Input should be a valid UUID",
}
OWN = {"value_error", "assertion_error"}  # Texts of the author, who decides what they say.
NOT_THERE = {"missing", "missing_argument", "missing_keyword_only_argument", "missing_positional_only_argument"}
KEY = "[key]"  # What pydantic adds to the path of a dictionary's key.


def complaint(error, arguments):
    """The text for pydantic's error about these arguments. A value that fits no type of a union has one line for all."""
    found = {}
    for each in error.errors(include_url=False):
        where = place(_path(each, arguments))
        told = found.setdefault(f"the key {where}" if each["loc"][-1:] == (KEY,) else where, [])
        text = _text(each)
        if text not in told:
            told.append(text)
    lines = [f"{where}: {'; or: '.join(told)}" if where else "; ".join(told) for where, told in found.items()]
    more = [f"… and {len(lines) - MAX_ERRORS} more"] if len(lines) > MAX_ERRORS else []
    return "\n".join([*(shortened(line, 2 * MAX_TEXT_CHARACTERS) for line in lines[:MAX_ERRORS]), *more])


def _path(error, arguments):
    """The path without what is not in the arguments. Pydantic adds the members of unions. Only a missing key is kept."""
    at, path, last = arguments, [], len(error["loc"]) - 1
    for number, part in enumerate(error["loc"]):
        if number == 0 and part == REST and (last > 0 or error["type"] != "extra_forbidden"):
            at = at[REST]
            continue
        is_item = isinstance(at, list) and isinstance(part, int) and 0 <= part < len(at)
        is_there = is_item or isinstance(at, dict) and part in at
        if is_there:
            at = at[part]
        if is_there or number == last and error["type"] in NOT_THERE:
            path.append(part)
    return path


def _text(error):
    kind, given, context = error["type"], error.get("input"), error.get("ctx", {})
    if kind in OWN:
        return shortened(text_of(context.get("error", "")) or "Input is refused", MAX_TEXT_CHARACTERS)
    text = TEXTS[kind].format(**context) if kind in TEXTS else error["msg"]
    if isinstance(given, str) and len(given) > 1:
        text = text.replace(given, "…")
    return shortened(text, MAX_TEXT_CHARACTERS)
