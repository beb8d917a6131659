"""Reads messages that the server has stored."""

from collections.abc import Iterator


def stored_events(message: dict) -> Iterator[dict]:
    """The events that would have told a stored message."""
    yield {"type": "start", "messageId": message["id"]}
    texts = 0
    for part in message["parts"]:
        kind = part["type"]
        if kind in ("text", "reasoning"):
            # The ids are those of the stream, so that what the stream has shown is not shown again.
            yield {"type": f"{kind}-delta", "id": f"t{texts}", "delta": part["text"]}
            yield {"type": f"{kind}-end", "id": f"t{texts}"}
            texts += 1
        elif kind == "dynamic-tool":
            yield from stored_call(part)
        elif kind == "data-call":
            yield part
    yield {"type": "finish", "finishReason": message.get("finish_reason") or "other",
           "messageMetadata": message.get("metadata")}


def stored_call(part: dict) -> Iterator[dict]:
    call = {"toolCallId": part["toolCallId"], "toolName": part["toolName"]}
    yield call | {"type": "tool-input-available", "input": part.get("input")}
    state = part["state"]
    if state == "approval-requested":
        yield call | {"type": "tool-approval-request", "approvalId": part["approval"]["id"]}
    elif state == "output-available":
        yield call | {"type": "tool-output-available", "output": part.get("output")}
    elif state == "output-error":
        yield call | {"type": "tool-output-error", "errorText": part.get("errorText", "")}
    elif state == "output-denied":
        yield call | {"type": "tool-output-denied"}


def summary(message: dict) -> str:
    texts = [it["text"] for it in message["parts"] if it["type"] == "text"]
    calls = [it["toolName"] for it in message["parts"] if it["type"] == "dynamic-tool"]
    return " ".join(([f"({', '.join(calls)})"] if calls else []) + texts) or "(nothing)"
