"""scripts/arte: the questions of samples/arte, asked through the playground."""

import json
import signal
import subprocess
import time
import urllib.request
import xml.etree.ElementTree as ElementTree


def test_the_figures_are_right(arte):
    told = arte.run().stdout
    assert "accuracy   80.0 %: 8 of 10 right" in told
    assert "2 wrong, 0 not known; 10 of 10 asked were judged by rule" in told
    assert "found 100.0 %, read 100.0 %, cited 100.0 %" in told
    summary = arte.results()["summary"]
    assert summary["accuracy_interval"] == [0.4902, 0.9433]
    assert summary["steps"] == {"mean": 3.0, "p50": 3, "p95": 3, "max": 3, "sum": 30}
    assert summary["input_tokens"]["sum"] == 3000
    assert summary["output_tokens"]["mean"] == 60.0
    assert summary["calls"]["sum"] == 20
    assert summary["seconds"]["p50"] > 0
    assert summary["models"] == ["clerk"]
    wrong = [it["id"] for it in arte.results()["results"] if not it["answer_correct"]]
    assert wrong == ["4", "9"]


def test_the_model_has_the_mail_tools_and_ten_steps(arte):
    arte.run("--limit", 1)
    asked = "Inbox: matt.motley@enron.com"
    request = next(it for it in arte.model.requests if it["messages"][-1]["content"].startswith(asked))
    assert {it["function"]["name"] for it in request["tools"]} == {"email_search", "email_get"}
    assert "Today's date: 2002-04-04" in request["messages"][-1]["content"]
    (agent,) = agents(arte)
    assert agent["max_steps"] == 10


def test_a_plot_has_a_panel_for_each_figure(arte):
    arte.run("--limit", 3)
    svg = ElementTree.parse(arte.out / "plots.svg").getroot()
    texts = [it.text for it in svg.iter("{http://www.w3.org/2000/svg}text")]
    for title in ("Outcomes", "The right mail", "Steps", "Tokens", "Latency", "Citations"):
        assert any(it and it.startswith(title) for it in texts), title


def test_a_run_that_is_done_asks_nothing_and_makes_no_agent(arte, clerk):
    arte.run()
    asked = len(clerk.asked)
    told = arte.run()
    assert len(clerk.asked) == asked == 10
    assert "8 of 10 right" in told.stdout
    assert len(agents(arte)) == 1


def test_a_killed_run_goes_on(arte, clerk):
    clerk.slow = 0.2
    with subprocess.Popen(arte.command("--parallel", 2), env=arte.environment, stderr=subprocess.PIPE) as run:
        wait_for(lambda: (arte.out / "results.jsonl").exists() and len(arte.lines()) >= 2)
        run.send_signal(signal.SIGKILL)
    # A killed run may leave half a line.
    with (arte.out / "results.jsonl").open("a") as file:
        file.write('{"id": "1", "ans')
    clerk.slow = 0
    told = arte.run()
    assert "8 of 10 right" in told.stdout
    # The progress goes on with what was right before.
    assert "10/10  8 right  0 errors" in told.stderr
    # The turns that were under way went on at the server, and were not asked for again.
    assert sorted(clerk.asked, key=int) == [str(it) for it in range(1, 11)]


def test_questions_that_failed_are_asked_again(arte, clerk):
    clerk.broken = {"2", "3"}
    told = arte.run(status=1)
    assert "errors     2 questions have no answer" in told.stdout
    assert "6 of 8 right" in told.stdout
    assert "8 of 10 asked were judged" in told.stdout
    assert "the model is out of order" in json.dumps(arte.results())
    clerk.broken = set()
    assert "8 of 10 right" in arte.run().stdout
    assert clerk.asked.count("1") == 1


def test_a_database_that_is_busy_is_waited_for(busy_arte, clerk):
    told = busy_arte.run("--limit", 2, "--parallel", 1)
    assert "2 of 2 right" in told.stdout
    assert clerk.asked == ["1", "2"]


def test_a_model_judges_without_asking_again(arte, clerk):
    arte.run()
    asked = len(clerk.asked)
    told = arte.run("--judge-url", arte.model.url, "--judge-model", "strict")
    assert "1 of 10 right" in told.stdout
    assert f"judged by strict at {arte.model.url}" in told.stdout
    assert len(clerk.asked) == asked
    right = [it for it in arte.results()["results"] if it["answer_correct"]]
    assert [(it["id"], it["judge_reason"]) for it in right] == [("3", "read it")]


def test_a_folder_holds_one_run(arte):
    arte.run("--limit", 1)
    told = arte.run("--limit", 1, "--model", "other", status=2)
    assert "model was None and is 'other'" in told.stderr


def test_a_server_that_does_not_answer_is_told(arte):
    told = arte.run("--url", "http://127.0.0.1:1", status=2)
    assert "error: No Pegboard answers at http://127.0.0.1:1" in told.stderr


def test_help_is_an_argument_of_its_own():
    told = subprocess.run(["scripts/arte", "no --help here"], capture_output=True, text=True, timeout=60)
    assert (told.returncode, told.stdout) == (2, "")
    for arguments in ([], ["--help"], ["questions.jsonl", "-h"]):
        told = subprocess.run(["scripts/arte", *arguments], capture_output=True, text=True, timeout=60)
        assert told.returncode == 0 and told.stdout.startswith("scripts/arte QUESTIONS"), arguments


def agents(arte) -> list[dict]:
    request = urllib.request.Request(f"{arte.url}/api/agents", headers={"X-Workspace-Id": arte.workspace})
    with urllib.request.urlopen(request, timeout=30) as response:
        return json.load(response)["agents"]


def wait_for(is_so) -> None:
    deadline = time.monotonic() + 60
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.05)
