"""The terminal: what is written where, and the lines that the user types."""

import json
import os
import shutil
import sys


class Screen:
    """Writes the answer to stdout, and everything else to stderr."""

    def __init__(self):
        self.colours = sys.stderr.isatty() and not os.environ.get("NO_COLOR")
        # Where both are the same terminal, a note must not begin in the middle of a line of the answer.
        self.shared = sys.stdout.isatty() and sys.stderr.isatty()
        self.out_open = self.err_open = False

    def answer(self, text: str) -> None:
        text = printable(text)
        if text:
            if self.shared:
                self.end_note()
            sys.stdout.write(text)
            sys.stdout.flush()
            self.out_open = not text.endswith("\n")

    def aside(self, text: str) -> None:
        """A piece of a note, such as reasoning, that may go on."""
        text = printable(text)
        if text:
            if self.shared:
                self.end_answer()
            sys.stderr.write(self._styled(text, "2"))
            sys.stderr.flush()
            self.err_open = not text.endswith("\n")

    def note(self, text: str, style: str = "2") -> None:
        """A line of its own."""
        if self.shared:
            self.end_answer()
        self.end_note()
        print(self._styled(printable(text), style), file=sys.stderr, flush=True)

    def error(self, text: str) -> None:
        self.note(f"error: {text}", "31")

    def end_answer(self) -> None:
        if self.out_open:
            print(flush=True)
        self.out_open = False

    def end_note(self) -> None:
        if self.err_open:
            print(file=sys.stderr, flush=True)
        self.err_open = False

    def _styled(self, text: str, style: str) -> str:
        return f"\033[{style}m{text}\033[0m" if self.colours else text


def read_line(prompt: str) -> str | None:
    """A line of the user; None at the end."""
    try:
        if sys.stdout.isatty():
            return input(prompt)
        # `input` would write the prompt into the answer.
        print(prompt, end="", file=sys.stderr, flush=True)
        return input()
    except EOFError:
        print(file=sys.stderr)
        return None


def printable(text: str) -> str:
    """The text without control characters, with which a model or a tool could command the terminal."""
    return "".join(it for it in text if it in "\n\t" or (it >= " " and not "\x7f" <= it <= "\x9f"))


def one_line(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return shortened(" ".join(text.split()))


def shortened(text: str) -> str:
    width = max(shutil.get_terminal_size((120, 24)).columns - 4, 40)
    return text if len(text) <= width else text[: width - 1] + "…"
