"""Decides whether an answer is right, by a rule or by a model, and what it cites.

The rule, where no judge is given: the answer must have every number of the expected answer, and at least 60 % of its other
words, without stop words. Case, accents, punctuation and the commas of numbers do not matter. The rule knows no synonyms
and no negation, so it is for comparing runs, and for tests; for figures to publish, a model should judge.
"""

import json
import os
import re
import time
import unicodedata
import urllib.error
import urllib.request
from dataclasses import dataclass

NEEDED_SHARE = 0.6
STOP_WORDS = frozenset(
    "a an and are as at be been by for from had has have he her his in is it its of on or our she so than that the "
    "their them there they this to was we were which will with would you your".split()
)
DONT_KNOW = re.compile(r"\bi (?:do not|don't|don’t) know\b", re.IGNORECASE)
# An id in angle brackets, or one in the form that Enron's ids have.
MESSAGE_ID = re.compile(r"<[^<>\s]+@[^<>\s]+>|[\w.+-]+\.JavaMail\.[\w.+-]+@[\w-]+")
SOURCES = re.compile(r"^[\s*_#>-]*(?:sources?|citations?|message[ _]ids?)\b[*_]*\s*:", re.IGNORECASE | re.MULTILINE)
JUDGE_PROMPT = """\
You judge answers to questions about somebody's mail.
You get a question, the reference answer, and the answer of an assistant.
The assistant's answer is correct if it says what the reference answer says, in whatever words, and contradicts none of it.
More than the reference says is no fault. An answer that does not commit itself is not correct.
Reply with one JSON object and nothing else: {"reason": "one sentence", "correct": true or false}"""
JUDGE_ATTEMPTS = 3
JUDGE_TIMEOUT_SECONDS = 120


class JudgeFailed(Exception):
    """The judge gave no verdict."""


@dataclass(frozen=True)
class Answer:
    """What an agent's last text says."""

    text: str
    # With angle brackets, each once, in order.
    cited: tuple[str, ...]

    @property
    def is_dont_know(self) -> bool:
        return not self.text.strip() or bool(DONT_KNOW.search(self.text))


def read_answer(text: str, seen: set[str]) -> Answer:
    """Splits a text into the answer and the ids that it cites. An id counts as cited if it stands after `Sources:`, or
    if the agent had seen it: an address in angle brackets elsewhere is no citation."""
    places = list(SOURCES.finditer(text))
    body, sources = (text[: places[-1].start()], text[places[-1].end() :]) if places else (text, "")
    cited = [bracketed(it) for it in MESSAGE_ID.findall(body) if bracketed(it) in seen]
    cited += [bracketed(it) for it in MESSAGE_ID.findall(sources)]
    return Answer(body.strip(), tuple(dict.fromkeys(cited)))


def bracketed(message_id: str) -> str:
    return f"<{message_id.strip().strip('<>')}>"


def fits(expected: str, answer: str) -> bool:
    """The rule."""
    wanted, given = words(expected), set(words(answer))
    numbers = {it for it in wanted if it[0].isdigit()}
    others = {it for it in wanted if not it[0].isdigit()}
    # An expected answer of stop words only, such as "it is", is taken as it is.
    others = (others - STOP_WORDS) or (others if not numbers else set())
    if not numbers <= given:
        return False
    return not others or len(others & given) / len(others) >= NEEDED_SHARE


def words(text: str) -> list[str]:
    plain = unicodedata.normalize("NFKD", text.casefold())
    plain = "".join(it for it in plain if not unicodedata.combining(it)).replace("’", "'")
    plain = re.sub(r"(?<=\d),(?=\d{3}\b)", "", plain)
    # 950.00 is 950, and a.m. is am.
    plain = re.sub(r"\b(\d+)\.0+\b", r"\1", plain)
    plain = re.sub(r"\b([ap])\.m\b\.?", r"\1m", plain)
    found = re.findall(r"\d+(?:\.\d+)?|[^\W\d_]+(?:'[^\W\d_]+)*", plain)
    return [re.sub(r"'s$", "", it) for it in found]


@dataclass(frozen=True)
class Rule:
    """Judges by the rule."""

    name = "rule"

    def judge(self, question: str, expected: str, answer: str) -> tuple[bool, str | None]:
        return fits(expected, answer), None


@dataclass(frozen=True)
class Judge:
    """Judges by a model with an OpenAI-compatible endpoint. ARTE_JUDGE_KEY is its key."""

    url: str
    model: str

    @property
    def name(self) -> str:
        return f"{self.model} at {self.url}"

    def judge(self, question: str, expected: str, answer: str) -> tuple[bool, str | None]:
        content = f"Question: {question}\n\nReference answer: {expected}\n\nAssistant's answer: {answer}"
        messages = [{"role": "system", "content": JUDGE_PROMPT}, {"role": "user", "content": content}]
        failure = ""
        for attempt in range(JUDGE_ATTEMPTS):
            if attempt:
                time.sleep(2**attempt)
            try:
                return verdict(self._ask(messages))
            except (OSError, ValueError, KeyError, IndexError, TypeError) as error:
                failure = f"{type(error).__name__}: {error}"
        raise JudgeFailed(f"The judge {self.name} gave no verdict: {failure}")

    def _ask(self, messages: list[dict]) -> str:
        headers = {"Content-Type": "application/json"}
        if key := os.environ.get("ARTE_JUDGE_KEY"):
            headers["Authorization"] = f"Bearer {key}"
        body = json.dumps({"model": self.model, "messages": messages}).encode()
        request = urllib.request.Request(f"{self.url.rstrip('/')}/chat/completions", body, headers, method="POST")
        try:
            with urllib.request.urlopen(request, timeout=JUDGE_TIMEOUT_SECONDS) as response:
                return json.load(response)["choices"][0]["message"]["content"]
        except urllib.error.HTTPError as error:
            with error:
                raise OSError(f"{error.code} {error.read()[:200].decode(errors='replace')}") from None


def verdict(text: str) -> tuple[bool, str | None]:
    """The last JSON object of the text that has a verdict: models write around it, and reason before it."""
    for found in reversed(list(re.finditer(r"\{[^{}]*\}", text))):
        try:
            told = json.loads(found[0])
        except ValueError:
            continue
        if isinstance(told.get("correct"), bool):
            reason = told.get("reason")
            return told["correct"], reason if isinstance(reason, str) else None
    raise ValueError(f"no verdict in {text[:200]!r}")
