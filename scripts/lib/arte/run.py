"""Asks the questions: one session of the playground for each, several at a time.

A turn goes on at the server when this program is killed. So the next start first looks whether a question's session has its
answer already, or is about to get it.
"""

import hashlib
import json
import re
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from queue import Empty, SimpleQueue

from pegboard import NoAnswer, Pegboard, Refused, quoted

from .questions import Question
from .results import Results
from .scoring import JudgeFailed, bracketed, read_answer

PROMPT = """\
You answer questions about one person's mail.
Search with email_search: begin with a few distinctive words, and try other words if no result fits.
Read the emails that look right with email_get before you answer.
You have at most {steps} steps, so do not search without end.
Answer in one or two sentences, with the figure, name or date that was asked for.
Then write one last line: `Sources:`, and the message_id of each email that the answer comes from, with its angle \
brackets, separated by commas.
If the mail does not tell the answer, reply: I don't know."""
# How often a question's turn is looked for again after its connection broke off.
RECONNECTIONS = 6
# With these, every other question would be refused too; but a 503 with Retry-After passes by itself.
HOPELESS = frozenset({400, 401, 403, 404, 421, 503})
# The pauses, in seconds, before a question is asked again that met such a 503.
PAUSES = (2, 5, 15, 30, 60)


class Hopeless(Exception):
    """Why no question can be asked."""


@dataclass(frozen=True)
class AgentSettings:
    """What the agents of a run are like. Agents with the same settings are used again."""

    model: str | None
    steps: int
    temperature: float | None
    order: str
    match: str
    prompt: str

    def body(self, inbox: str) -> dict:
        body = {"name": self.name(inbox), "system_prompt": self.prompt, "max_steps": self.steps, "max_risk": "low"}
        return body | {it: value for it in ("model", "temperature") if (value := getattr(self, it)) is not None}

    def name(self, inbox: str) -> str:
        digest = hashlib.sha256(json.dumps(self.__dict__, sort_keys=True).encode()).hexdigest()[:8]
        return f"arte {digest} {inbox}"[:200]

    def attachments(self, inbox: str) -> list[dict]:
        defaults = {"default_inbox_id": inbox, "default_order": self.order, "default_match": self.match}
        return [{"tool_id": "email_search", "config": defaults}, {"tool_id": "email_get"}]


class Agents:
    """One agent for each inbox, so that the inbox is the default of its searches; or the one agent that was named."""

    def __init__(self, pegboard: Pegboard, settings: AgentSettings, named: str | None):
        self.pegboard, self.settings, self.named = pegboard, settings, named
        self._lock = threading.Lock()
        self._ids: dict[str, str] = {}
        self._known: dict[str, str] | None = None

    def id_for(self, inbox: str) -> str:
        if self.named:
            return self.named
        with self._lock:
            if inbox not in self._ids:
                self._ids[inbox] = self._made(inbox)
            return self._ids[inbox]

    def _made(self, inbox: str) -> str:
        if self._known is None:
            self._known = {it["name"]: it["id"] for it in self.pegboard.all("/api/agents", "agents")}
        agent_id = self._known.get(self.settings.name(inbox))
        if agent_id is None:
            agent_id = self.pegboard.ask("POST", "/api/agents", self.settings.body(inbox))["id"]
        for attachment in self.settings.attachments(inbox):
            try:
                self.pegboard.ask("POST", f"/api/agents/{agent_id}/tools", attachment)
            except Refused as refused:
                # The tool is attached already.
                if refused.status != 409:
                    raise
        return agent_id


class Run:
    def __init__(self, pegboard: Pegboard, agents: Agents, results: Results, judge):
        self.pegboard, self.agents, self.results, self.judge = pegboard, agents, results, judge
        self._hopeless: Hopeless | None = None

    def todo(self, questions: list[Question]) -> list[Question]:
        """The questions that are not done: never asked, failed, or judged by another judge."""

        def is_done(question: Question) -> bool:
            row = self.results.by_id.get(question.id)
            return bool(row) and not row["error"] and (question.answer is None or row["judged_by"] == self.judge.name)

        return [it for it in questions if not is_done(it)]

    def ask_all(self, questions: list[Question], parallel: int, told: Callable[[dict], None]) -> None:
        """Asks the questions. `told` hears of each row, one at a time."""
        waiting: SimpleQueue[Question] = SimpleQueue()
        for question in questions:
            waiting.put(question)
        done: SimpleQueue[dict | Hopeless] = SimpleQueue()
        # Ctrl-C must end the program while these wait for turns, which go on at the server.
        for _ in range(min(parallel, len(questions))):
            threading.Thread(target=self._work, args=(waiting, done), daemon=True).start()
        for _ in questions:
            row = done.get()
            if isinstance(row, Hopeless):
                raise row
            told(row)

    def _work(self, waiting: SimpleQueue, done: SimpleQueue) -> None:
        while True:
            try:
                question = waiting.get_nowait()
            except Empty:
                return
            try:
                row = self._patiently(question)
                self.results.add(row)
                done.put(row)
            except (Refused, NoAnswer) as error:
                done.put(Hopeless(str(error)))
                return
            except Exception as error:  # A fault of this program must not leave the main thread waiting.
                done.put(Hopeless(f"{type(error).__name__}: {error}"))
                raise

    def _patiently(self, question: Question) -> dict:
        """What becomes of a question. A fault that passes is waited for: who asks again finds the turn that has begun."""
        for pause in PAUSES:
            try:
                return self._row(question)
            except Refused as refused:
                if refused.status != 503 or refused.retry_after is None:
                    raise
                time.sleep(max(pause, refused.retry_after))
        return self._row(question)

    def _row(self, question: Question) -> dict:
        """What becomes of a question."""
        before = self.results.by_id.get(question.id)
        if before and not before["error"]:
            return self._judged(before, question)
        attempt = self.results.attempts.get(question.id, 0) + 1
        session = f"arte-{self.results.run_id}-{slug(question.id)}-{attempt}"
        turn = Asked(self.pegboard, session, self.agents.id_for(question.inbox))
        turn.ask(message_of(question))
        return self._judged(turn.row(question) | {"attempt": attempt}, question)

    def _judged(self, row: dict, question: Question) -> dict:
        """The row with the judge's verdict."""
        verdict = {"answer_correct": None, "judged_by": None, "judge_reason": None}
        if row["error"] or question.answer is None:
            return row | verdict
        if row["dont_know"]:
            return row | verdict | {"answer_correct": False, "judged_by": self.judge.name}
        try:
            correct, reason = self.judge.judge(question.question, question.answer, row["answer"])
        except JudgeFailed as failed:
            return row | verdict | {"judge_reason": str(failed)}
        return row | {"answer_correct": correct, "judged_by": self.judge.name, "judge_reason": reason}


def message_of(question: Question) -> str:
    date = f"Today's date: {question.date}\n" if question.date else ""
    return f"Inbox: {question.inbox}\n{date}\n{question.question}"


def slug(question_id: str) -> str:
    """The id as a part of a session's id."""
    if re.fullmatch(r"[A-Za-z0-9_-]{1,32}", question_id):
        return question_id
    return hashlib.sha256(question_id.encode()).hexdigest()[:16]


class Asked:
    """One question in its session."""

    def __init__(self, pegboard: Pegboard, session: str, agent_id: str):
        self.pegboard, self.session, self.agent_id = pegboard, session, agent_id
        self.path = f"/api/playground/sessions/{quoted(session)}"
        self.seconds: float | None = None
        self.error: str | None = None
        self.message: dict | None = None

    def ask(self, text: str) -> None:
        """Has the question answered, unless an earlier start of the program has done so."""
        if self._answered() or self._drain(self._under_way()):
            self.message = self._answered()
            if self.message:
                return
        self.error = None
        began = time.monotonic()
        body = {"message": text, "agentId": self.agent_id}
        try:
            events = self.pegboard.events("POST", f"{self.path}/chat", body)
        except Refused as refused:
            if refused.status in HOPELESS:
                raise
            self.error = str(refused)
            return
        self._drain(events)
        self.seconds = round(time.monotonic() - began, 3)
        self.message = self._answered()
        if self.message is None and self.error is None:
            self.error = "The turn left no message"

    def _under_way(self) -> Iterator[dict] | None:
        return self.pegboard.events("GET", f"{self.path}/chat/arte/stream")

    def _drain(self, events: Iterator[dict] | None) -> bool:
        """Reads a turn to its end. If the connection breaks off, the turn goes on at the server, and so does this."""
        if events is None:
            return False
        for reconnection in range(RECONNECTIONS):
            try:
                for event in events or ():
                    if event["type"] == "error":
                        self.error = event["errorText"]
                return True
            except NoAnswer:
                if reconnection == RECONNECTIONS - 1:
                    raise
                time.sleep(min(2**reconnection, 15))
                try:
                    events = self._under_way()
                except NoAnswer:
                    events = broken()
        return True

    def _answered(self) -> dict | None:
        """The answer that the session has."""
        try:
            messages = list(self.pegboard.all(f"{self.path}/messages", "messages"))
        except Refused as refused:
            if refused.status == 404:
                return None
            raise
        last = messages[-1] if messages else None
        return last if last and last["role"] == "assistant" and last["finish_reason"] else None

    def row(self, question: Question) -> dict:
        message = self.message or {"id": None, "parts": [], "finish_reason": None, "usage": None, "metadata": None}
        metadata, usage = message["metadata"] or {}, message["usage"] or {}
        parts = message["parts"]
        calls = [it for it in parts if it["type"] == "dynamic-tool"]
        found, read = found_ids(calls), read_ids(calls)
        answer = read_answer(last_text(parts), found | read)
        expected = {bracketed(it) for it in question.message_ids}
        return {
            "id": question.id,
            "question": question.question,
            "inbox": question.inbox,
            "expected": question.answer,
            "expected_ids": sorted(expected),
            "answer": answer.text,
            "dont_know": answer.is_dont_know,
            "cited": list(answer.cited),
            # Ids that the agent never saw: it has made them up, or copied them wrongly.
            "cited_unseen": [it for it in answer.cited if it not in found | read],
            "sources_correct": bool(expected & set(answer.cited)) if expected else None,
            "found": bool(expected & found) if expected else None,
            "read": bool(expected & read) if expected else None,
            "steps": metadata.get("steps") or sum(it["type"] == "step-start" for it in parts),
            "calls": len(calls),
            "failed_calls": sum(it["state"] == "output-error" for it in calls),
            "input_tokens": usage.get("input_tokens"),
            "output_tokens": usage.get("output_tokens"),
            "seconds": self.seconds,
            "finish_reason": message["finish_reason"],
            "ended_by": metadata.get("ended_by"),
            "model": metadata.get("model"),
            "session_id": self.session,
            "message_id": message["id"],
            "agent_id": self.agent_id,
            "error": self._failure(message, metadata),
            "at": datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
        }

    def _failure(self, message: dict, metadata: dict) -> str | None:
        """Why the question has no answer that can be judged."""
        if self.error:
            return self.error
        if any(it["type"] == "dynamic-tool" and it["state"] == "approval-requested" for it in message["parts"]):
            return "The turn waits for an approval"
        if message["finish_reason"] == "error":
            return metadata.get("ended_by") or "The turn failed"
        return None


def broken() -> Iterator[dict]:
    """Events of a server that does not answer."""
    raise NoAnswer("The connection broke off")
    yield


def last_text(parts: list[dict]) -> str:
    """The text of the last step: texts before it are remarks between calls."""
    steps = [number for number, part in enumerate(parts) if part["type"] == "step-start"]
    last = parts[steps[-1] :] if steps else parts
    return "\n".join(it["text"] for it in last if it["type"] == "text")


def found_ids(calls: list[dict]) -> set[str]:
    """The messages that searches have returned."""
    found = set()
    for call in calls:
        output = as_object(call.get("output"))
        if call["toolName"] == "email_search" and isinstance(output.get("emails"), list):
            found |= {bracketed(it["message_id"]) for it in output["emails"] if isinstance(it, dict) and "message_id" in it}
    return found


def read_ids(calls: list[dict]) -> set[str]:
    """The messages that were read."""
    outputs = [as_object(it.get("output")) for it in calls if it["toolName"] == "email_get"]
    return {bracketed(it["message_id"]) for it in outputs if isinstance(it.get("message_id"), str)}


def as_object(output: object) -> dict:
    """The result of a call, which may be a JSON text. One that was cut is no object."""
    if isinstance(output, str):
        try:
            output = json.loads(output)
        except ValueError:
            return {}
    return output if isinstance(output, dict) else {}
