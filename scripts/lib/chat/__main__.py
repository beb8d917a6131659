"""The command: reads the options, sends the message, and talks if there is a terminal."""

import argparse
import os
import secrets
import sys
import time

from pegboard import NoAnswer, Pegboard, Refused, add_flags, of_flags, quoted

from .commands import talk
from .conversation import Chat
from .screen import Screen
from .turn import Turn

AGENT = {
    "name": "chat",
    "system_prompt": "You help a person in a terminal. Answer briefly, in plain text. Use your tools where they help.",
}
FAILED, WAITS, STOPPED = 1, 3, 130


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="scripts/chat")
    add_flags(parser)
    parser.add_argument("--session")
    parser.add_argument("--agent")
    parser.add_argument("--once", action="store_true")
    parser.add_argument("--resume", action="store_true")
    parser.add_argument("message", nargs="*")
    given = parser.parse_args()
    if given.resume and not given.session:
        parser.error("--resume needs --session")
    given.message = " ".join(given.message)
    if not given.message and not given.resume and not sys.stdin.isatty():
        given.message, given.once = sys.stdin.read().strip(), True
    if given.once and not given.message and not given.resume:
        parser.error("--once needs a MESSAGE")
    return given


def find_agent(pegboard: Pegboard, named: str | None, session: str | None) -> str:
    """The agent that was named, or else the one that answered last in the session, or else the one of this program."""
    if named and named.startswith("agent_"):
        return named
    if not named and session and (last := last_agent(pegboard, session)):
        return last
    name = named or AGENT["name"]
    for agent in pegboard.all("/api/agents", "agents"):
        if agent["name"] == name:
            return agent["id"]
    if named:
        raise Refused(404, "NOT_FOUND", f"No agent of the workspace {pegboard.workspace} is named {named}")
    return pegboard.ask("POST", "/api/agents", AGENT)["id"]


def last_agent(pegboard: Pegboard, session: str) -> str | None:
    try:
        messages = list(pegboard.all(f"/api/playground/sessions/{quoted(session)}/messages", "messages"))
    except Refused as refused:
        # A session begins with its first message.
        if refused.status == 404:
            return None
        raise
    return next((it["agent_id"] for it in reversed(messages) if it["agent_id"]), None)


def status_of(turn: Turn | None) -> int:
    if turn is None or turn.failed or turn.finish == "error":
        return FAILED
    if turn.stopped:
        return STOPPED
    return WAITS if turn.approvals else 0


def run(given: argparse.Namespace, screen: Screen) -> int:
    pegboard = of_flags(given)
    session = given.session or time.strftime("chat-%Y%m%d-%H%M%S-") + secrets.token_hex(2)
    chat = Chat(pegboard, session, find_agent(pegboard, given.agent, given.session), screen)
    is_talk = not given.once and sys.stdin.isatty()
    if is_talk:
        screen.note(f"session {session} at {pegboard.url}; /help lists the commands")
    turn = None
    if given.resume:
        turn = chat.come_back()
        if turn is None:
            screen.note("No turn is under way, and the session's last message is no answer.")
    if given.message:
        turn = chat.send(given.message)
    if is_talk:
        talk(chat)
        screen.note(f"Go on with: scripts/chat --session {session}")
        return 0
    return status_of(turn)


def main() -> None:
    screen = Screen()
    try:
        # Line editing and a history of lines, where Python has them.
        import readline  # noqa: F401
    except ImportError:
        pass
    try:
        sys.exit(run(arguments(), screen))
    except (Refused, NoAnswer) as error:
        screen.error(str(error))
        sys.exit(FAILED)
    except KeyboardInterrupt:
        screen.end_answer()
        sys.exit(STOPPED)
    except BrokenPipeError:
        # The reader of stdout has left.
        os._exit(0)


if __name__ == "__main__":
    main()
