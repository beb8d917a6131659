"""Reads the lines of the user: messages, and commands that begin with a slash."""

import sys

from pegboard import NoAnswer, Refused

from .conversation import Chat
from .screen import read_line

HELP = """\
/history    the messages of this conversation, with numbers
/back N     goes back to message N, with the files as they were; the next message begins a branch there.
            N may also be the id of another version
/again      has the last message answered anew
/files      the files of the session;  /files PATH shows one
/quit       ends the program (so does Ctrl-D)"""


def talk(chat: Chat) -> None:
    """Reads messages and commands until the user ends it."""
    while True:
        try:
            line = read_line("> ")
        except KeyboardInterrupt:
            print(file=sys.stderr)
            return
        if line is None:
            return
        line = line.strip()
        try:
            if line in ("/quit", "/exit"):
                return
            obey(chat, line)
        except (Refused, NoAnswer) as error:
            chat.screen.error(str(error))


def obey(chat: Chat, line: str) -> None:
    word, _, rest = line.partition(" ")
    rest = rest.strip()
    if not line:
        return
    if not line.startswith("/"):
        chat.send(line)
    elif word == "/history":
        chat.history()
    elif word == "/back" and rest:
        chat.back(rest)
    elif word == "/again":
        chat.again()
    elif word == "/files":
        chat.files(rest)
    else:
        chat.screen.note(HELP)
