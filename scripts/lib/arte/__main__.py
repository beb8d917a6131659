"""The command: reads the options, runs the questions, and tells the figures."""

import argparse
import json
import sys
import time
from pathlib import Path

import pegboard
from pegboard import NoAnswer, Refused

from . import plot, report
from .questions import BadQuestions, Question, Questions, read
from .results import BadFolder, Results
from .run import PROMPT, Agents, AgentSettings, Hopeless, Run
from .scoring import Judge, Rule


class Progress:
    """One line that is written again and again, or in a file one line for each question."""

    def __init__(self, total: int, rows: list[dict]):
        """`rows` are those of an earlier start. They count too, because the figures at the end are about all questions."""
        self.total, self.done, self.before = total, len(rows), len(rows)
        self.right = self.errors = 0
        for row in rows:
            self._count(row)
        self.began = time.monotonic()
        self.is_terminal = sys.stderr.isatty()

    def tell(self, row: dict) -> None:
        self.done += 1
        self._count(row)
        told = f"{self.done}/{self.total}  {self.right} right  {self.errors} errors  {self._rest()}"
        if self.is_terminal:
            print(f"\r\033[K{told}", end="", file=sys.stderr, flush=True)
        else:
            print(f"{told}  question {row['id']}: {outcome(row)}", file=sys.stderr, flush=True)

    def _count(self, row: dict) -> None:
        self.right += bool(row["answer_correct"])
        self.errors += bool(row["error"])

    def _rest(self) -> str:
        seconds = (time.monotonic() - self.began) / (self.done - self.before) * (self.total - self.done)
        return f"ETA {int(seconds) // 60}:{int(seconds) % 60:02}"

    def end(self) -> None:
        if self.is_terminal and self.done > self.before:
            print(file=sys.stderr)


def outcome(row: dict) -> str:
    if row["error"]:
        return f"error: {row['error']}"
    if row["answer_correct"] is None:
        return "not judged"
    return "right" if row["answer_correct"] else "not known" if row["dont_know"] else "wrong"


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="scripts/arte")
    pegboard.add_flags(parser)
    parser.add_argument("questions", type=Path)
    parser.add_argument("--limit", type=positive)
    parser.add_argument("--parallel", type=positive, default=4)
    parser.add_argument("--out", type=Path, default=Path("arte-results"))
    parser.add_argument("--agent")
    parser.add_argument("--model")
    parser.add_argument("--steps", type=positive, default=10)
    parser.add_argument("--temperature", type=float)
    parser.add_argument("--order", choices=("date", "rank"), default="date")
    parser.add_argument("--match", choices=("auto", "all", "any"), default="auto")
    parser.add_argument("--prompt", type=Path)
    parser.add_argument("--judge-url")
    parser.add_argument("--judge-model")
    given = parser.parse_args()
    if bool(given.judge_url) != bool(given.judge_model):
        parser.error("--judge-url and --judge-model belong together")
    return given


def positive(text: str) -> int:
    if (number := int(text)) < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return number


def settings_of(given: argparse.Namespace, questions: Questions, agent: AgentSettings) -> dict:
    """What makes two runs comparable, and so what a folder of results is about."""
    told = {"questions": questions.digest, "url": given.url, "workspace": given.workspace, "agent": given.agent}
    return told if given.agent else told | agent.__dict__


def carry_out(given: argparse.Namespace) -> int:
    questions = read(given.questions)
    prompt = given.prompt.read_text() if given.prompt else PROMPT.format(steps=given.steps)
    agent = AgentSettings(given.model, given.steps, given.temperature, given.order, given.match, prompt)
    judge = Judge(given.judge_url, given.judge_model) if given.judge_url else Rule()
    chosen = questions.all[: given.limit]
    results = Results(given.out, settings_of(given, questions, agent))
    server = pegboard.of_flags(given)
    run = Run(server, Agents(server, agent, given.agent), results, judge)
    todo = run.todo(chosen)
    left_out = f", {questions.left_out} left out as ART-E does" if questions.left_out else ""
    left = {it.id for it in todo}
    done = [results.by_id[it.id] for it in chosen if it.id not in left]
    say(f"{len(chosen)} questions{left_out}; {len(done)} are done; results are in {given.out}")
    progress = Progress(len(chosen), done)
    try:
        run.ask_all(todo, given.parallel, progress.tell)
    finally:
        progress.end()
        # What is done is told even if the rest cannot be asked.
        if results.by_id:
            write(given, chosen, results, judge.name)
    return 0 if all(it.id in results.by_id and not results.by_id[it.id]["error"] for it in chosen) else 1


def write(given: argparse.Namespace, chosen: list[Question], results: Results, judge: str) -> None:
    """Prints the figures, and writes results.json and plots.svg."""
    rows = [results.by_id[it.id] for it in chosen if it.id in results.by_id]
    told = report.summary(rows, chosen)
    settings = json.loads((results.folder / "run.json").read_text())
    document = settings | {"judge": judge, "summary": told, "results": rows}
    results.write("results.json", json.dumps(document, indent=2, ensure_ascii=False) + "\n")
    models = ", ".join(told["models"]) or given.model or "the model"
    title = f"{given.questions.name}: {models}, {told['right']} of {told['judged']} right, {told['asked']} asked"
    plots = results.write("plots.svg", plot.svg(told, rows, title))
    print(report.text(told, judge), flush=True)
    say(f"{results.folder / 'results.json'} and {plots} have more")


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def main() -> None:
    try:
        sys.exit(carry_out(arguments()))
    except (BadQuestions, BadFolder, Hopeless, Refused, NoAnswer, OSError) as error:
        say(f"error: {error}")
        sys.exit(2)
    except KeyboardInterrupt:
        say("Interrupted. The same command goes on.")
        sys.exit(130)


if __name__ == "__main__":
    main()
