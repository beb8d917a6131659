"""The figures of a run: counts, shares, means and percentiles, as data and as text."""

import math
import statistics

from .questions import Question


def summary(rows: list[dict], questions: list[Question]) -> dict:
    """`rows` are the results so far; a question without a row was not asked yet."""
    answered = [it for it in rows if not it["error"]]
    judged = [it for it in answered if it["answer_correct"] is not None]
    right = [it for it in judged if it["answer_correct"]]
    with_ids = [it for it in answered if it["sources_correct"] is not None]
    cited = [len(it["cited"]) for it in answered]
    return {
        "questions": len(questions),
        "asked": len(rows),
        "answered": len(answered),
        "errors": sum(bool(it["error"]) for it in rows),
        "judged": len(judged),
        "right": len(right),
        "wrong": sum(not it["answer_correct"] and not it["dont_know"] for it in judged),
        "dont_know": sum(it["dont_know"] for it in judged),
        "accuracy": share(len(right), len(judged)),
        "accuracy_interval": interval(len(right), len(judged)),
        "found": share(sum(it["found"] for it in with_ids), len(with_ids)),
        "read": share(sum(it["read"] for it in with_ids), len(with_ids)),
        "cited_right": share(sum(it["sources_correct"] for it in with_ids), len(with_ids)),
        "citations": figures(cited),
        "without_citation": sum(it == 0 for it in cited),
        "with_unseen_citation": sum(bool(it["cited_unseen"]) for it in answered),
        "out_of_steps": sum("max_steps" in (it["ended_by"] or "") for it in answered),
        "steps": figures([it["steps"] for it in answered]),
        "calls": figures([it["calls"] for it in answered]),
        "failed_calls": sum(it["failed_calls"] for it in answered),
        "input_tokens": figures(known(answered, "input_tokens")),
        "output_tokens": figures(known(answered, "output_tokens")),
        "seconds": figures(known(answered, "seconds")),
        "models": sorted({it["model"] for it in answered if it["model"]}),
    }


def known(rows: list[dict], name: str) -> list[float]:
    return [it[name] for it in rows if it[name] is not None]


def share(part: int, whole: int) -> float | None:
    return round(part / whole, 4) if whole else None


def interval(part: int, whole: int) -> list[float] | None:
    """The 95 % interval of a share, by Wilson. It says how much of a difference between two runs is chance."""
    if not whole:
        return None
    z, rate = 1.96, part / whole
    middle = rate + z * z / (2 * whole)
    half = z * math.sqrt(rate * (1 - rate) / whole + z * z / (4 * whole * whole))
    scale = 1 + z * z / whole
    return [round(max((middle - half) / scale, 0), 4), round(min((middle + half) / scale, 1), 4)]


def figures(values: list[float]) -> dict | None:
    if not values:
        return None
    ordered = sorted(values)
    return {
        "mean": round(statistics.fmean(ordered), 2),
        "p50": percentile(ordered, 0.5),
        "p95": percentile(ordered, 0.95),
        "max": ordered[-1],
        "sum": round(sum(ordered), 3),
    }


def percentile(ordered: list[float], rank: float) -> float:
    return ordered[max(math.ceil(rank * len(ordered)) - 1, 0)]


def text(told: dict, judge: str) -> str:
    low, high = told["accuracy_interval"] or (None, None)
    lines = [
        f"accuracy   {percent(told['accuracy'])}: {told['right']} of {told['judged']} right"
        + (f" (95 % interval {percent(low)} to {percent(high)})" if told["judged"] else "")
        + f", {told['wrong']} wrong, {told['dont_know']} not known; "
        # Questions that failed are not in the accuracy.
        f"{told['judged']} of {told['asked']} asked were judged by {judge}",
        f"mail       found {percent(told['found'])}, read {percent(told['read'])}, cited {percent(told['cited_right'])}",
        f"citations  {spread(told['citations'])} an answer; {told['without_citation']} answers without, "
        f"{told['with_unseen_citation']} with ids that the agent never saw",
        f"steps      {spread(told['steps'])}; {told['out_of_steps']} answers ended by the limit",
        f"calls      {spread(told['calls'])}; {told['failed_calls']} failed",
        f"tokens     in {spread(told['input_tokens'])}; out {spread(told['output_tokens'])}",
        f"latency    {spread(told['seconds'], ' s')}",
    ]
    if told["errors"]:
        lines.append(f"errors     {told['errors']} questions have no answer; the same command asks them again")
    if missing := told["questions"] - told["asked"]:
        lines.append(f"missing    {missing} questions were not asked yet; the same command goes on")
    if unjudged := told["answered"] - told["judged"]:
        lines.append(f"unjudged   {unjudged} answers have no verdict")
    return "\n".join(lines)


def percent(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:.1f} %"


def spread(told: dict | None, unit: str = "") -> str:
    if told is None:
        return "-"
    return f"mean {told['mean']:,.4g}{unit}, median {told['p50']:,.4g}{unit}, p95 {told['p95']:,.4g}{unit}"
