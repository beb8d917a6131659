"""The toolsets of samples/: they are installed, their tools run on files, and results have the right faces."""

import json
import re

import pytest

COFFEE = {"file": "/coffee.csv", "x": "date", "y": ["cups"], "split": "drink", "dates_by": "month", "title": "Cups"}


def test_the_samples_are_installed(samples):
    listed = {it["id"]: (it["version"], it["enabled"]) for it in samples.get("/api/toolsets")["toolsets"]}
    assert listed == {it: ("1.0.0", True) for it in ("app-builder", "data-report", "notes")}
    tools = {it["id"]: it for it in samples.get("/api/tools?limit=100")["tools"]}
    assert {it for it in tools if ":" in it} == {
        "app-builder:write_file", "app-builder:read_file", "app-builder:run_command",
        "data-report:describe_csv", "data-report:chart_csv", "data-report:load_example",
        "notes:add_note", "notes:write_report", "notes:list_tasks",
    }  # fmt: skip
    # Names come from the manifest, or from the decorator.
    assert tools["app-builder:write_file"]["name"] == "Write File"
    assert tools["notes:list_tasks"]["name"] == "List Tasks"
    assert tools["app-builder:run_command"]["requires_approval"] is True


def test_only_the_subprocess_is_warned_of(samples):
    warnings = {it: samples.get(f"/api/toolsets/{it}")["warnings"] for it in ("app-builder", "data-report", "notes")}
    assert (warnings["data-report"], warnings["notes"]) == ([], [])
    (warning,) = warnings["app-builder"]
    assert (warning["file"], warning["line"]) == ("tools/shell.py", 3)
    assert "subprocess" in warning["message"]


def test_files_have_kinds_and_can_be_read(samples):
    files = {it["path"]: it["kind"] for it in samples.get("/api/toolsets/data-report")["files"]}
    assert files == {
        "README.md": "asset", "artifacts/chart.html": "artifact", "artifacts/describe.html": "artifact",
        "assets/coffee.csv": "asset", "tools/chart.py": "python", "tools/describe.py": "python",
        "tools/example.py": "python", "tools/table.py": "python",
    }  # fmt: skip
    response = samples.ask("GET", "/api/toolsets/data-report/files/artifacts/chart.html")
    assert "sandbox" in response.headers["Content-Security-Policy"]
    assert response.headers["X-Content-Type-Options"] == "nosniff"


class TestAppBuilder:
    def test_a_file_is_written_and_shown_as_code(self, samples):
        answer = samples.run("app-builder:write_file", {"path": "src/index.html", "content": "<h1>é</h1>"}, "app")
        assert answer["result"] == {"written": "src/index.html", "size": 11}
        config = {"file": "src/index.html", "language": "auto", "editable": True}
        assert answer["render_plan"] == {"renderer": "code", "config": config}
        assert answer["pre_manifest_id"] != answer["post_manifest_id"]
        assert samples.file("/src/index.html", "app") == "<h1>é</h1>"

    def test_a_file_is_read(self, samples):
        samples.result("app-builder:write_file", {"path": "/a.txt", "content": "text"}, "read")
        read = samples.result("app-builder:read_file", {"path": "a.txt"}, "read")
        assert read == {"path": "a.txt", "content": "text", "size": 4}
        failed = samples.run("app-builder:read_file", {"path": "none.txt"}, "read")
        assert failed["error"]["code"] == "TOOL_ERROR"
        assert "the workspace has no file none.txt" in failed["error"]["message"]
        assert failed["render_plan"]["error"]["code"] == "TOOL_ERROR"

    def test_nothing_outside_is_written(self, samples):
        failed = samples.run("app-builder:write_file", {"path": "../x", "content": ""}, "outside")
        assert "is no path of a file in the workspace" in failed["error"]["message"]
        assert failed["pre_manifest_id"] == failed["post_manifest_id"]

    def test_a_command_needs_an_approval_and_says_why_it_fails(self, samples):
        waiting = samples.run("app-builder:run_command", {"command": "ls"}, "app", status=202)
        assert waiting["error"]["code"] == "APPROVAL_REQUIRED", waiting
        approval = waiting["error"]["details"]["approval_id"]
        done = samples.ask("POST", f"/api/approvals/{approval}/approve", json={}).json()
        assert done["error"]["code"] == "TOOL_ERROR", done
        assert "cannot run 'ls': tools run in a sandbox without processes" in done["error"]["message"]


class TestDataReport:
    @pytest.fixture(scope="class")
    def data(self, samples):
        answer = samples.run("data-report:load_example", {}, "data")
        assert answer["result"] == {"path": "/coffee.csv"}
        assert answer["render_plan"] == {"renderer": "code", "config": {"file": "/coffee.csv", "language": "csv"}}
        assert samples.file("/coffee.csv", "data").startswith("date,shop,drink,cups,revenue,temperature\n")
        return samples

    def test_a_file_is_described(self, data):
        answer = data.run("data-report:describe_csv", {"file": "coffee.csv"}, "data")
        described = answer["result"]
        assert described["rows"] == 351
        kinds = {it["name"]: (it["kind"], it["missing"]) for it in described["columns"]}
        assert kinds == {
            "date": ("date", 0), "shop": ("text", 0), "drink": ("text", 0),
            "cups": ("number", 0), "revenue": ("number", 0), "temperature": ("number", kinds["temperature"][1]),
        }  # fmt: skip
        assert kinds["temperature"][1] > 0
        shops = next(it for it in described["columns"] if it["name"] == "shop")
        assert {(it["label"], it["count"]) for it in shops["bars"]} == {("Harbour", 117), ("Market", 117), ("Station", 117)}
        plan = answer["render_plan"]
        assert plan["renderer"] == "html"
        assert plan["config"]["artifact"] == "/api/toolsets/data-report/files/artifacts/describe.html"
        assert plan["config"]["data"] == described

    def test_a_chart_agrees_with_the_file(self, data):
        rows = [line.split(",") for line in data.file("/coffee.csv", "data").splitlines()[1:]]
        chart = data.result("data-report:chart_csv", {"chart": COFFEE}, "data")
        assert (chart["kind"], chart["y"], chart["left_out"]) == ("line", "sum of cups", 0)
        assert chart["labels"] == sorted({row[0][:7] for row in rows})
        for series in chart["series"]:
            for month, value in zip(chart["labels"], series["values"], strict=True):
                cups = [int(row[3]) for row in rows if row[0].startswith(month) and row[2] == series["name"]]
                assert value == sum(cups), (series["name"], month)

    def test_a_chart_is_a_page_without_network(self, data):
        call = data.run("data-report:chart_csv", {"chart": {**COFFEE, "title": "</script><b>&\u2028"}}, "data")
        page = data.ask("GET", f"/api/tool-calls/{call['call_id']}/render")
        assert page.headers["Content-Type"].startswith("text/html")
        policy = page.headers["Content-Security-Policy"]
        assert policy.startswith("sandbox allow-scripts; default-src 'none'"), policy
        before, _, rest = page.text.partition("<script>window.__TOOL_DATA__ = ")
        injected, _, after = rest.partition(";</script>")
        assert json.loads(injected) == call["result"]
        assert "<" not in injected and "\u2028" not in injected
        assert after.lstrip().startswith("</head>")
        # The page loads nothing.
        assert not re.search(r"""(?:src|href)=|url\(|@import|fetch\(|https?://(?!www\.w3\.org/2000/svg)""", before + after)

    def test_bars_have_a_limit(self, data):
        chart = {"file": "coffee.csv", "x": "temperature", "kind": "bar", "combine": "mean", "y": ["revenue"], "limit": 5}
        drawn = data.result("data-report:chart_csv", {"chart": chart}, "data")
        assert len(drawn["labels"]) == 5 and drawn["left_out"] > 20
        assert [float(it) for it in drawn["labels"]] == sorted(float(it) for it in drawn["labels"])

    def test_errors_say_what_there_is(self, data):
        missing = data.run("data-report:describe_csv", {"file": "tea.csv"}, "data")
        assert "there is no file 'tea.csv'; CSV files of this session: coffee.csv" in missing["error"]["message"]
        column = data.run("data-report:chart_csv", {"chart": {"file": "coffee.csv", "x": "day"}}, "data")
        assert "there is no column 'day'; there are date, shop, drink" in column["error"]["message"]

    def test_arguments_are_checked_by_the_schema(self, data):
        wrong = data.run("data-report:chart_csv", {"chart": {**COFFEE, "combine": "average"}}, "data", status=400)
        assert wrong["error"]["code"] == "INVALID_ARGUMENTS"


class TestNotes:
    def test_notes_become_a_report(self, samples):
        note = {"title": "Café opening", "text": "Met the owner.\n\n- [ ] call the baker\n- [x] pay the rent"}
        first = samples.run("notes:add_note", {**note, "tags": ["shop"], "day": "2026-11-02"}, "notes")
        assert first["result"]["path"] == "/notes/2026-11-02-cafe-opening.md"
        config = {"file": "/notes/2026-11-02-cafe-opening.md", "editable": True}
        assert first["render_plan"] == {"renderer": "document", "config": config}
        samples.result("notes:add_note", {"title": "Menu", "text": "- [ ] price the latte", "day": "2026-11-03"}, "notes")

        tasks = samples.run("notes:list_tasks", {}, "notes")
        assert tasks["result"]["count"] == 2
        assert tasks["render_plan"] == {"renderer": "document", "config": {"content": tasks["result"]["markdown"]}}

        report = samples.run("notes:write_report", {"title": "The opening"}, "notes")
        result = report["result"]
        assert (result["path"], result["notes"], result["open_tasks"]) == ("/reports/the-opening.md", 2, 2)
        assert report["render_plan"] == {"renderer": "document", "config": {"file": result["path"], "editable": True}}
        text = samples.file("/reports/the-opening.md", "notes")
        assert text.startswith("# The opening\n\n*20")
        order = ["## Open tasks", "- [ ] call the baker", "- [ ] price the latte", "## Tags", "- shop: 1 note", "## Café opening", "## Menu"]
        assert sorted(order, key=text.index) == order

    def test_only_notes_with_a_tag(self, samples):
        for title, tags in (("One", ["a"]), ("Two", ["b"])):
            samples.result("notes:add_note", {"title": title, "text": "x", "tags": tags}, "tags")
        report = samples.result("notes:write_report", {"title": "A", "tags": ["a"], "detail": "summary"}, "tags")
        assert report["notes"] == 1
        assert "## Two" not in samples.file(report["path"], "tags")

    def test_no_notes(self, samples):
        failed = samples.run("notes:write_report", {"title": "Empty"}, "empty")
        assert "the folder /notes has no Markdown files: add a note first" in failed["error"]["message"]
