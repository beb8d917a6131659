"""Shows one answer as its events come."""

from .screen import Screen, one_line, shortened


class Turn:
    """Shows one message of the assistant. Events that come twice, because the connection was made again, are shown once."""

    def __init__(self, screen: Screen):
        self.screen = screen
        self.message_id: str | None = None
        self.calls: dict[str, dict] = {}
        self.approvals: dict[str, str] = {}
        self.shown: dict[str, int] = {}
        self.received: dict[str, int] = {}
        self.finish: str | None = None
        self.failed = self.stopped = False

    def take(self, event: dict) -> None:
        kind = event["type"]
        if kind == "start":
            self.message_id, self.received = event["messageId"], {}
        elif kind == "text-delta":
            self.screen.answer(self._unseen(f"text {event['id']}", event["delta"]))
        elif kind == "reasoning-delta":
            self.screen.aside(self._unseen(f"reasoning {event['id']}", event["delta"]))
        elif kind in ("text-end", "reasoning-end"):
            # Without this, a text that follows reasoning would begin in its line.
            if kind == "reasoning-end":
                self.screen.end_note()
        elif kind in ("tool-input-available", "tool-input-error"):
            self._begin(event["toolCallId"], event["toolName"], event["input"])
            if kind == "tool-input-error":
                self._end(event["toolCallId"], f"failed: {event['errorText']}")
        elif kind == "tool-approval-request":
            self.approvals[event["toolCallId"]] = event["approvalId"]
        elif kind == "tool-output-available":
            self._end(event["toolCallId"], one_line(event["output"]))
        elif kind == "tool-output-error":
            self._end(event["toolCallId"], f"failed: {event['errorText']}")
        elif kind == "tool-output-denied":
            self._end(event["toolCallId"], "denied")
        elif kind == "data-call":
            self._record(event["id"], event["data"])
        elif kind == "error":
            self.failed = True
            self.screen.error(event["errorText"])
        elif kind == "abort":
            self.stopped = True
            self.screen.note("stopped")
        elif kind == "finish":
            self.finish = event["finishReason"]
            self._close(event.get("messageMetadata") or {})

    def _unseen(self, text_id: str, delta: str) -> str:
        """The part of the delta that was not shown yet."""
        before = self.received.get(text_id, 0)
        self.received[text_id] = before + len(delta)
        seen = max(self.shown.get(text_id, 0) - before, 0)
        self.shown[text_id] = max(self.shown.get(text_id, 0), before + len(delta))
        return delta[seen:]

    def _begin(self, call_id: str, tool: str, arguments: object) -> None:
        if call_id not in self.calls:
            self.calls[call_id] = {"tool": tool, "input": arguments, "outcome": None, "told": False}
            self.screen.note(f"→ {tool} {one_line(arguments)}", "36")

    def _end(self, call_id: str, outcome: str) -> None:
        self.approvals.pop(call_id, None)
        call = self.calls.setdefault(call_id, {"tool": "the call", "input": None, "outcome": None, "told": False})
        call["outcome"] = outcome

    def _record(self, call_id: str, record: dict) -> None:
        """The record of a call follows its outcome, and has the duration."""
        call = self.calls.get(call_id)
        if call and call["outcome"] is not None and not call["told"]:
            call["told"] = True
            self._tell(call, f" ({record['duration_ms']} ms)")

    def _tell(self, call: dict, duration: str) -> None:
        self.screen.note(shortened(f"← {call['tool']}{duration}: {call['outcome']}"), "36")

    def _close(self, metadata: dict) -> None:
        # A call that never reached a tool has no record.
        for call in self.calls.values():
            if call["outcome"] is not None and not call["told"]:
                call["told"] = True
                self._tell(call, "")
        if reason := metadata.get("ended_by"):
            if not self.approvals and not self.stopped and not self.failed:
                self.screen.note(str(reason))
        if "dropped_messages" in metadata:
            self.screen.note("The model did not see the oldest messages of the conversation: they do not fit")
        if metadata.get("tools_left_out"):
            self.screen.note("The model did not see all tools of the agent: there are too many")
        if self.finish in ("length", "content-filter"):
            self.screen.note({"length": "The model's answer was cut off: it is too long",
                              "content-filter": "The model's server held back the rest"}[self.finish])
