"""scripts/chat: a scripted model, a running Pegboard, and for talks a terminal."""

import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import requests

sys.path.insert(0, str(Path(__file__).parents[1]))

from scripted_model import Reply, last_user_text, results_since_user, serving_model  # noqa: E402
from worker import serving  # noqa: E402


def script(messages: list[dict]) -> Reply:
    """What the model does is the first word of the message."""
    word, _, rest = last_user_text(messages).partition(" ")
    results = results_since_user(messages)
    if word == "write":
        if not results:
            return Reply(reasoning="A file.", calls=[("write_file", {"path": "/a.txt", "content": rest})])
        return Reply(f"Written: {rest}")
    if word == "publish":
        return Reply(f"Result: {results[0]}") if results else Reply(calls=[("publish", {"path": "/"})])
    if word == "fail":
        return Reply("out of order", status=500)
    if word == "slow":
        return Reply("word " * 200, seconds=0.1)
    if word == "escape":
        return Reply("a\x1b[2Jb\x9b31mc")
    return Reply(f"You said: {word} {rest}".strip())


@pytest.fixture(scope="session")
def server():
    with serving_model(script) as model:
        variables = ["AUTH=open", "SECRET_KEY=chat-test", "PRIVATE_URLS=allow", f"MODEL_URL={model.url}", "MODEL_NAME=m"]
        with serving("chat-state", os.environ["PEGBOARD_TEMPLATE_STATE"], variables) as url:
            yield url


class Client:
    def __init__(self, url: str, workspace: str):
        self.url, self.workspace = url, workspace

    def ask(self, method: str, path: str, **more) -> dict:
        response = requests.request(method, self.url + path, headers={"X-Workspace-Id": self.workspace}, timeout=60, **more)
        assert response.ok, response.text
        return response.json() if response.text else {}

    @property
    def environment(self) -> dict:
        given = {"PEGBOARD_URL": self.url, "PEGBOARD_WORKSPACE": self.workspace, "PEGBOARD_TOKEN": "", "TERM": "xterm"}
        return os.environ | given

    def run(self, *arguments: str, stdin: str = "", status: int = 0) -> subprocess.CompletedProcess:
        command = ["scripts/chat", *arguments]
        done = subprocess.run(command, env=self.environment, input=stdin, capture_output=True, text=True, timeout=60)
        assert done.returncode == status, f"{done.returncode}\n{done.stdout}\n{done.stderr}"
        return done

    def publisher(self, *more_tools: str) -> str:
        """An agent with a tool that needs an approval."""
        schema = {"type": "object", "properties": {"path": {"type": "string"}}}
        tool = {"id": "publish", "version": "1.0.0", "name": "Publish", "description": "Shows files", "risk_level": "high",
                "handler": {"type": "builtin", "key": "list_files"}, "parameters_schema": schema}  # fmt: skip
        self.ask("POST", "/api/tools", json=tool)
        agent = self.ask("POST", "/api/agents", json={"name": "publisher", "max_risk": "high"})["id"]
        for attached in ("publish", *more_tools):
            self.ask("POST", f"/api/agents/{agent}/tools", json={"tool_id": attached})
        return agent

    def messages(self, session: str) -> list[dict]:
        return self.ask("GET", f"/api/playground/sessions/{session}/messages")["messages"]


@pytest.fixture
def client(server, request) -> Client:
    return Client(server, re.sub("[^a-z0-9]+", "-", request.node.name.lower())[-60:].strip("-"))


class Terminal:
    """scripts/chat in a terminal. `stdout` may be something else than the terminal."""

    def __init__(self, client: Client, *arguments: str, stdout: int | None = None):
        self.terminal, theirs = pty.openpty()
        self.process = subprocess.Popen(
            ["scripts/chat", *arguments], env=client.environment, stdin=theirs, stdout=stdout or theirs, stderr=theirs,
            start_new_session=True, preexec_fn=own_terminal,
        )  # fmt: skip
        os.close(theirs)
        self.text = ""

    def expect(self, text: str) -> None:
        """Waits for the text, and forgets everything up to it."""
        deadline = time.monotonic() + 30
        while text not in self.text:
            assert time.monotonic() < deadline, f"no {text!r} in {self.text!r}"
            if select.select([self.terminal], [], [], 0.2)[0]:
                try:
                    read = os.read(self.terminal, 65536).decode(errors="replace")
                    self.text += re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", read)
                except OSError:
                    assert text in self.text, f"no {text!r} in {self.text!r}"
        self.text = self.text.split(text, 1)[1]

    def type(self, line: str) -> None:
        os.write(self.terminal, line.encode() + b"\n")

    def press(self, key: bytes) -> None:
        os.write(self.terminal, key)

    def ended(self) -> int:
        return self.process.wait(30)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        if self.process.stdout:
            self.process.stdout.close()
        os.close(self.terminal)


def own_terminal() -> None:
    """Makes stdin the terminal of the process, so that Ctrl-C reaches it."""
    import fcntl
    import termios

    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


def test_a_script_gets_the_answer_alone(client):
    done = client.run("--once", "write", "gas is up")
    assert done.stdout == "Written: gas is up\n" or done.stdout == "Written: gas is up"
    assert "A file." in done.stderr
    assert '→ write_file {"path": "/a.txt", "content": "gas is up"}' in done.stderr
    assert re.search(r"← write_file \(\d+ ms\): Wrote 9 bytes to /a.txt", done.stderr)
    assert "\x1b" not in done.stderr


def test_stdin_is_a_message(client):
    assert client.run(stdin="hello\n").stdout.strip() == "You said: hello"


def test_help_is_an_argument_of_its_own(client):
    assert client.run("--once", "what does ls --help do").stdout.strip() == "You said: what does ls --help do"
    assert client.run("--once", "--", "-h").stdout.strip() == "You said: -h"
    assert client.run("--once", "--help").stdout.startswith("scripts/chat [OPTION]")


def test_a_program_of_the_same_name_in_the_folder_is_left_alone(client, tmp_path):
    (tmp_path / "chat.py").write_text("raise SystemExit(7)")
    command = [Path("scripts/chat").resolve(), "--once", "hello"]
    done = subprocess.run(command, cwd=tmp_path, env=client.environment, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout.strip()) == (0, "You said: hello")


def test_the_agent_is_made_once(client):
    client.run("--once", "a")
    client.run("--once", "b")
    assert [it["name"] for it in client.ask("GET", "/api/agents")["agents"]] == ["chat"]


def test_a_conversation_goes_on_in_its_session(client):
    client.run("--once", "--session", "s", "one")
    client.run("--once", "--session", "s", "two")
    messages = client.messages("s")
    assert [it["role"] for it in messages] == ["user", "assistant"] * 2


def test_a_fault_of_the_model_is_told(client):
    done = client.run("--once", "fail", status=1)
    assert "error: " in done.stderr and "out of order" in done.stderr
    assert done.stdout == ""


def test_refusals_are_told(client):
    assert "error: Agent not found: agent_0" in client.run("--once", "--agent", "agent_0", "a", status=1).stderr
    assert "No agent of the workspace" in client.run("--once", "--agent", "nobody", "a", status=1).stderr
    assert "No Pegboard answers" in client.run("--once", "--url", "http://127.0.0.1:1", "a", status=1).stderr


def test_control_characters_do_not_reach_the_terminal(client):
    assert client.run("--once", "escape").stdout.strip() == "a[2Jb31mc"


def test_a_script_is_told_that_a_call_waits_and_comes_back(client):
    agent = client.publisher()
    told = client.run("--once", "--agent", agent, "--session", "s", "publish it", status=3).stderr
    approval = re.search(r"publish waits for the approval (appr_\w+)", told)[1]
    assert f"An admin decides it: scripts/chat --session s --resume, or POST /api/approvals/{approval}/approve" in told
    client.ask("POST", f"/api/approvals/{approval}/approve", json={})
    deadline = time.monotonic() + 30
    while (answer := client.messages("s")[-1])["finish_reason"] != "stop":
        assert time.monotonic() < deadline
        time.sleep(0.1)
    # The request before the approval counts too.
    assert (answer["metadata"]["steps"], answer["usage"]["input_tokens"]) == (2, 200)
    assert "Result: Contents of /:" in client.run("--once", "--session", "s", "--agent", agent, "--resume").stdout


def test_approvals_are_asked_for(client):
    with Terminal(client, "--agent", client.publisher()) as terminal:
        terminal.expect("> ")
        terminal.type("publish it")
        terminal.expect("publish waits for an approval")
        terminal.expect("approve?")
        terminal.type("y")
        terminal.expect("← publish")
        terminal.expect("Result: Contents of /:")
        terminal.expect("> ")
        terminal.type("publish it")
        terminal.expect("approve?")
        terminal.type("n not today")
        terminal.expect("← publish")
        terminal.expect("denied")
        terminal.expect("> ")
        terminal.type("/quit")
        assert terminal.ended() == 0
    denied = client.ask("GET", "/api/approvals?status=denied")["approvals"]
    assert [it["reason"] for it in denied] == ["not today"]


def test_an_approval_that_was_left_is_decided_later(client):
    agent = client.publisher()
    client.run("--once", "--agent", agent, "--session", "s", "publish it", status=3)
    with Terminal(client, "--session", "s", "--resume") as terminal:
        terminal.expect("→ publish")
        terminal.expect("approve?")
        # Enter leaves the call.
        terminal.type("")
        terminal.expect("publish waits for the approval")
        terminal.expect("> ")
        terminal.type("/quit")
        assert terminal.ended() == 0
    with Terminal(client, "--session", "s", "--resume") as terminal:
        terminal.expect("approve?")
        terminal.type("y")
        terminal.expect("← publish")
        terminal.expect("Result: Contents of /:")
        terminal.expect("> ")
        terminal.type("hello")
        terminal.expect("You said: hello")
        terminal.expect("> ")
        terminal.type("/quit")
        assert terminal.ended() == 0
    # The agent of the session goes on, although no flag names it.
    assert [it["agent_id"] for it in client.messages("s")] == [agent] * 4
    assert [it["status"] for it in client.ask("GET", "/api/tool-calls?session_id=s")["tool_calls"]] == ["success"]


def test_prompts_are_no_part_of_the_answer(client):
    with Terminal(client, "--agent", client.publisher(), stdout=subprocess.PIPE) as terminal:
        terminal.expect("> ")
        terminal.type("hello")
        terminal.expect("> ")
        terminal.type("publish it")
        terminal.expect("approve?")
        terminal.type("n")
        terminal.expect("denied")
        terminal.expect("> ")
        terminal.type("/quit")
        assert terminal.ended() == 0
        answers = terminal.process.stdout.read().decode().splitlines()
    assert answers[0] == "You said: hello"
    assert answers[1].startswith("Result: ")
    assert not any("> " in it or "approve?" in it for it in answers)


def test_going_back_begins_a_branch_with_its_files(client):
    with Terminal(client, "--session", "s") as terminal:
        terminal.expect("> ")
        terminal.type("write one")
        terminal.expect("Written: one")
        terminal.expect("> ")
        terminal.type("write two")
        terminal.expect("Written: two")
        terminal.expect("> ")
        terminal.type("/history")
        terminal.expect("4. assistant")
        terminal.expect("> ")
        later = client.messages("s")[3]["id"]
        terminal.type("/back 2")
        terminal.expect("Back at message 2")
        terminal.expect("> ")
        terminal.type("/files /a.txt")
        terminal.expect("one")
        terminal.expect("> ")
        terminal.type("/files")
        terminal.expect("3  /a.txt")
        terminal.expect("> ")
        terminal.type(f"/back {later}")
        terminal.expect("Back at")
        terminal.expect("> ")
        terminal.type("/files /a.txt")
        terminal.expect("two")
        terminal.expect("> ")
        terminal.type("/history")
        terminal.expect("4. assistant")
        terminal.expect("> ")
        terminal.type("/back 2")
        terminal.expect("Back at message 2")
        terminal.expect("> ")
        terminal.type("three")
        terminal.expect("You said: three")
        terminal.expect("> ")
        terminal.type("/history")
        terminal.expect("4. assistant")
        terminal.expect("> ")
        terminal.type("/again")
        terminal.expect("You said: three")
        terminal.expect("> ")
        # The number means the new answer, and not the one that /history has shown.
        newest = client.messages("s")[3]
        assert len(newest["siblings"]) == 2
        terminal.type("/back 4")
        terminal.expect("Back at message 4")
        terminal.expect("> ")
        assert client.ask("GET", "/api/sessions/s")["active_message_id"] == newest["id"]
        terminal.press(b"\x04")
        assert terminal.ended() == 0
    messages = client.messages("s")
    texts = [it["text"] for message in messages for it in message["parts"] if it["type"] == "text"]
    assert texts == ["write one", "Written: one", "three", "You said: three"]


def test_one_conversation_has_calls_an_approval_a_branch_and_a_restored_file(client):
    agent = client.publisher("write_file")
    with Terminal(client, "--agent", agent, "--session", "s") as terminal:
        terminal.expect("> ")
        terminal.type("write one")
        terminal.expect("→ write_file")
        terminal.expect("← write_file")
        terminal.expect("Written: one")
        terminal.expect("> ")
        terminal.type("publish it")
        terminal.expect("approve?")
        terminal.type("y")
        terminal.expect("← publish")
        terminal.expect("Result: Contents of /:")
        terminal.expect("> ")
        terminal.type("write two")
        terminal.expect("Written: two")
        terminal.expect("> ")
        first_branch = client.messages("s")
        # Back to the answer that had the approval: its files are restored.
        terminal.type("/back 4")
        terminal.expect("Back at message 4")
        terminal.expect("> ")
        terminal.type("/files /a.txt")
        terminal.expect("one")
        terminal.expect("> ")
        terminal.type("write three")
        terminal.expect("Written: three")
        terminal.expect("> ")
        second_branch = client.messages("s")
        # The other branch is still there, with its files.
        terminal.type(f"/back {first_branch[-1]['id']}")
        terminal.expect("Back at")
        terminal.expect("> ")
        terminal.type("/files /a.txt")
        terminal.expect("two")
        terminal.expect("> ")
        terminal.type("/quit")
        assert terminal.ended() == 0
    assert [it["id"] for it in first_branch[:4]] == [it["id"] for it in second_branch[:4]]
    assert second_branch[4]["siblings"] == [first_branch[4]["id"], second_branch[4]["id"]]
    assert [it["id"] for it in client.messages("s")] == [it["id"] for it in first_branch]
    calls = client.ask("GET", "/api/tool-calls?session_id=s")["tool_calls"]
    assert sorted((it["tool_name"], it["status"]) for it in calls) == [("publish", "success")] + [("write_file", "success")] * 3
    approved = client.ask("GET", "/api/approvals?status=approved")["approvals"]
    assert len(approved) == 1


def test_ctrl_c_stops_the_turn(client):
    with Terminal(client, "--session", "s", "slow please") as terminal:
        terminal.expect("word word")
        terminal.press(b"\x03")
        terminal.expect("stopping")
        terminal.expect("> ")
        terminal.type("hello")
        terminal.expect("You said: hello")
        terminal.expect("> ")
        terminal.type("/quit")
        assert terminal.ended() == 0


def test_a_turn_goes_on_without_its_client(client):
    with Terminal(client, "--session", "s", "slow please") as terminal:
        terminal.expect("word word")
        terminal.process.send_signal(signal.SIGKILL)
    # From the beginning of the message to its end.
    assert client.run("--once", "--session", "s", "--resume").stdout.count("word") == 200
