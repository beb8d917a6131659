"""A conversation with an agent in one session."""

import json
import sys
import time
from collections.abc import Iterator

from pegboard import NoAnswer, Pegboard, Refused, quoted

from .ctrl_c import CtrlC
from .screen import Screen, one_line, read_line
from .stored import stored_events, summary
from .turn import Turn

# How often a turn is looked for again after its connection broke off.
RECONNECTIONS = 5


class Chat:
    """A conversation in one session."""

    def __init__(self, pegboard: Pegboard, session: str, agent_id: str, screen: Screen):
        self.pegboard, self.session, self.agent_id, self.screen = pegboard, session, agent_id, screen
        self.path = f"/api/playground/sessions/{quoted(session)}"
        self.numbered: list[str] = []

    def send(self, text: str) -> Turn:
        return self._turn({"message": text, "agentId": self.agent_id})

    def again(self) -> Turn:
        return self._turn({"messages": [], "trigger": "regenerate-message", "agentId": self.agent_id})

    def come_back(self) -> Turn | None:
        """Follows the turn that is under way, or shows the last answer; None if there is neither. Calls that wait for
        approvals are asked about, however long ago the turn began."""
        events = self.pegboard.events("GET", f"{self.path}/chat/terminal/stream")
        turn = self._follow(events) if events is not None else self._show_last()
        return self._decide_waiting(turn) if turn else None

    def _turn(self, body: dict) -> Turn:
        # The numbers of `/history` are those of the path that this turn may leave.
        self.numbered = []
        return self._decide_waiting(self._follow(self.pegboard.events("POST", f"{self.path}/chat", body)))

    def _decide_waiting(self, turn: Turn) -> Turn:
        """Asks the user about the calls that wait for approvals, and follows the turn that goes on with the answers. What
        still waits at the end is told."""
        while turn.approvals and sys.stdin.isatty():
            answers = self._ask(turn)
            if not answers:
                break
            asked = set(turn.approvals.values())
            turn = self._follow(self.pegboard.events("POST", f"{self.path}/chat", self._decided(turn, answers)), turn)
            if asked & set(turn.approvals.values()) & set(answers):
                self.screen.note("Only an admin may decide this.")
                break
        self._tell_waiting(turn)
        return turn

    def _decided(self, turn: Turn, answers: dict[str, tuple[bool, str | None]]) -> dict:
        """The assistant's message with the decisions, as useChat posts it."""
        parts = []
        for call_id, approval_id in turn.approvals.items():
            if approval_id in answers:
                approved, reason = answers[approval_id]
                approval = {"id": approval_id, "approved": approved} | ({"reason": reason} if reason else {})
                call = turn.calls[call_id]
                parts.append({"type": "dynamic-tool", "toolName": call["tool"], "toolCallId": call_id,
                              "state": "approval-responded", "input": call["input"], "approval": approval})
        message = {"id": turn.message_id, "role": "assistant", "parts": parts}
        return {"messages": [message], "trigger": "submit-message", "agentId": self.agent_id}

    def _ask(self, turn: Turn) -> dict[str, tuple[bool, str | None]]:
        answers = {}
        for call_id, approval_id in turn.approvals.items():
            call = turn.calls[call_id]
            self.screen.note(f"{call['tool']} waits for an approval, with these arguments:", "33")
            self.screen.note(json.dumps(call["input"], indent=2, ensure_ascii=False), "33")
            answer = read_line("approve? (y, n, n REASON, or Enter to leave it) ") or ""
            word, _, reason = answer.strip().partition(" ")
            if word.lower() in ("y", "yes"):
                answers[approval_id] = (True, reason.strip() or None)
            elif word.lower() in ("n", "no"):
                answers[approval_id] = (False, reason.strip() or None)
        return answers

    def _tell_waiting(self, turn: Turn) -> None:
        for call_id, approval_id in turn.approvals.items():
            self.screen.note(f"{turn.calls[call_id]['tool']} waits for the approval {approval_id}.", "33")
            here = f"scripts/chat --session {self.session} --resume"
            self.screen.note(f"An admin decides it: {here}, or POST /api/approvals/{approval_id}/approve", "33")

    def _follow(self, events: Iterator[dict] | None, turn: Turn | None = None) -> Turn:
        """Shows a turn to its end. If the connection breaks off, the turn goes on at the server, and so does this."""
        turn = turn or Turn(self.screen)
        turn.finish, turn.approvals = None, {}
        reconnections = 0
        with self._stopping_at_ctrl_c():
            while events is not None:
                try:
                    for event in events:
                        reconnections = 0
                        turn.take(event)
                    break
                except NoAnswer as broken:
                    events = self._reconnected(broken, reconnections)
                    reconnections += 1
        if turn.finish is None and not turn.stopped:
            self._show_rest(turn)
        if turn.finish is None and not turn.stopped:
            # The server was restarted, and ends the message within about a minute.
            turn.failed = True
            self.screen.error(f"The turn broke off. What is left of it: scripts/chat --session {self.session} --resume")
        self.screen.end_answer()
        self.screen.end_note()
        return turn

    def _reconnected(self, broken: NoAnswer, reconnections: int) -> Iterator[dict] | None:
        """The rest of the turn; None if it has ended meanwhile."""
        if reconnections == 0:
            self.screen.note(f"{broken}. Looking for the turn again")
        for attempt in range(reconnections, RECONNECTIONS):
            time.sleep(min(2**attempt, 8))
            try:
                return self.pegboard.events("GET", f"{self.path}/chat/terminal/stream")
            except NoAnswer as again:
                broken = again
        raise broken

    def _show_rest(self, turn: Turn) -> None:
        """The end of a turn that ended while nobody listened, from its stored message."""
        message = self._last_message()
        if message and message["role"] == "assistant" and message["id"] == (turn.message_id or message["id"]):
            for event in stored_events(message):
                turn.take(event)

    def _last_message(self) -> dict | None:
        messages = list(self.pegboard.all(f"{self.path}/messages", "messages"))
        return messages[-1] if messages else None

    def _stopping_at_ctrl_c(self):
        return CtrlC(self.screen, lambda: self.pegboard.ask("POST", f"{self.path}/stop"))

    def _show_last(self) -> Turn | None:
        message = self._last_message()
        if message is None or message["role"] != "assistant":
            return None
        turn = Turn(self.screen)
        for event in stored_events(message):
            turn.take(event)
        self.screen.end_answer()
        self.screen.end_note()
        return turn

    def history(self) -> None:
        messages = list(self.pegboard.all(f"{self.path}/messages", "messages"))
        self.numbered = [it["id"] for it in messages]
        if not messages:
            self.screen.note("No messages yet.")
        for number, message in enumerate(messages, 1):
            others = [it for it in message["siblings"] if it != message["id"]]
            beside = f" (other versions: {', '.join(others)})" if others else ""
            who = "you" if message["role"] == "user" else message["role"]
            self.screen.note(f"{number:3}. {who}{beside}: {one_line(summary(message))}")

    def back(self, number: str) -> None:
        if not self.numbered:
            self.numbered = [it["id"] for it in self.pegboard.all(f"{self.path}/messages", "messages")]
        if number.isdigit():
            if not 1 <= int(number) <= len(self.numbered):
                self.screen.error(f"There is no message {number}: /history has {len(self.numbered)}")
                return
            message_id = self.numbered[int(number) - 1]
        else:
            message_id = number
        self.pegboard.ask("POST", f"{self.path}/checkout", {"message_id": message_id})
        self.screen.note(f"Back at message {number}, with its files. The next message goes on from here.")
        self.numbered = []

    def files(self, path: str) -> None:
        base = f"/api/sessions/{quoted(self.session)}/files"
        if path:
            joined = "/".join(quoted(it) for it in path.strip("/").split("/"))
            self.screen.answer(self.pegboard.text(f"{base}/{joined}"))
            self.screen.end_answer()
            return
        try:
            present = self.pegboard.ask("GET", f"/api/sessions/{quoted(self.session)}")["active_manifest_id"]
        except Refused as refused:
            # A session begins with its first message or file.
            if refused.status != 404:
                raise
            present = None
        manifest = f"/api/sessions/{quoted(self.session)}/manifests/{present}"
        for entry in self.pegboard.all(manifest, "entries") if present else ():
            self.screen.note(f"{entry['size']:>10}  {entry['path']}")
        if not present:
            self.screen.note("No files.")
