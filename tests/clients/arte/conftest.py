"""A running Pegboard with the sample mail, and a scripted model that answers the questions of samples/arte.

PEGBOARD_TEMPLATE_STATE is a migrated state, without mail.
"""

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import pytest

sys.path[:0] = [str(Path(__file__).parents[1]), "scripts/lib"]

from scripted_model import Model, Reply, last_user_text, results_since_user, serving_model  # noqa: E402
from worker import serving  # noqa: E402

QUESTIONS = Path("samples/arte/questions.jsonl")
# What the model answers instead of the truth.
WRONG = {"4": "Everything is 30% off.", "9": "The printer is called Coconut Telegraph."}


@dataclass
class Clerk:
    """Searches with the words of the question, reads the best result, and answers. `slow` holds up every answer."""

    questions: dict[str, dict]
    slow: float = 0
    # Questions whose turns fail.
    broken: set[str] = field(default_factory=set)
    asked: list[str] = field(default_factory=list)

    def __call__(self, messages: list[dict]) -> Reply:
        text = last_user_text(messages)
        if text.startswith("Question:"):
            return self.verdict(text)
        question = next(it for it in self.questions.values() if it["question"] in text)
        results = results_since_user(messages)
        if not results:
            self.asked.append(question["id"])
            if question["id"] in self.broken:
                return Reply("the model is out of order", status=500)
            return Reply(reasoning="Look for it.", calls=[("email_search", {"query": question["question"]})])
        if len(results) == 1:
            found = json.loads(results[0])["emails"]
            return Reply(calls=[("email_get", {"message_id": found[0]["message_id"]})])
        read = json.loads(results[1])["message_id"]
        answer = WRONG.get(question["id"], f"The answer is: {question['answer']}")
        return Reply(f"{answer}\n\nSources: {read}", seconds=self.slow)

    def verdict(self, text: str) -> Reply:
        """As a judge, the model is strict: only one answer is right."""
        return Reply(f"Well. {json.dumps({'reason': 'read it', 'correct': 'Williams-Sonoma' in text})}")


@pytest.fixture(scope="session")
def state(tmp_path_factory) -> Path:
    """A migrated state with the sample mail."""
    state = tmp_path_factory.mktemp("arte") / "state"
    shutil.copytree(os.environ["PEGBOARD_TEMPLATE_STATE"], state)
    load = ["scripts/import-enron", "samples/enron/maildir", "--persist-to", str(state), "--work", str(state / "work")]
    done = subprocess.run(load, env=os.environ | {"PEGBOARD_PROFILE": "dev"}, capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stderr
    return state


@pytest.fixture
def clerk() -> Clerk:
    rows = [json.loads(it) for it in QUESTIONS.read_text().splitlines()]
    return Clerk({str(it["id"]): it | {"id": str(it["id"])} for it in rows})


@pytest.fixture(scope="session")
def served(state):
    with serving_model(lambda _: Reply("no script")) as model:
        variables = ["AUTH=open", "SECRET_KEY=arte-test", "PRIVATE_URLS=allow"]
        variables += [f"MODEL_URL={model.url}", "MODEL_NAME=clerk"]
        with serving("arte-state", str(state), variables) as url:
            yield url, model


@pytest.fixture
def arte(served, clerk, tmp_path, request) -> "Arte":
    url, model = served
    model.script = clerk
    return Arte(url, model, "".join(it for it in request.node.name if it.isalnum())[:60], tmp_path / "out")


@pytest.fixture
def busy_arte(state, clerk, tmp_path):
    """A server whose database has no time for the first turn, however often the Worker tries it within a request."""
    fault = {"has": ["INSERT INTO messages"], "times": 4, "ran": False, "message": "D1_ERROR: D1 DB is overloaded."}
    variables = ["AUTH=open", "SECRET_KEY=arte-test", "PRIVATE_URLS=allow", f"D1_FAULTS={json.dumps([fault])}"]
    with serving_model(clerk) as model:
        variables += [f"MODEL_URL={model.url}", "MODEL_NAME=clerk"]
        with serving("arte-busy", str(state), variables) as url:
            yield Arte(url, model, "busy", tmp_path / "out")


@dataclass
class Arte:
    """scripts/arte as people run it, in a workspace of the test's own."""

    url: str
    model: Model
    workspace: str
    out: Path

    def command(self, *more: object) -> list[str]:
        return ["scripts/arte", str(QUESTIONS), "--out", str(self.out), *map(str, more)]

    @property
    def environment(self) -> dict:
        return os.environ | {"PEGBOARD_URL": self.url, "PEGBOARD_WORKSPACE": self.workspace, "PEGBOARD_TOKEN": ""}

    def run(self, *more: object, status: int = 0) -> subprocess.CompletedProcess:
        done = subprocess.run(self.command(*more), env=self.environment, capture_output=True, text=True, timeout=300)
        assert done.returncode == status, f"{done.returncode}\n{done.stdout}\n{done.stderr}"
        return done

    def results(self) -> dict:
        return json.loads((self.out / "results.json").read_text())

    def lines(self) -> list[dict]:
        return [json.loads(it) for it in (self.out / "results.jsonl").read_text().splitlines() if it]
