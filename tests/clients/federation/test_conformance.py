"""The official conformance suite for clients, in both revisions. Pegboard is the client: the suite runs
conformance_command.py, which has a running Pegboard talk to the suite's mock servers."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
SUITE = "node_modules/@modelcontextprotocol/conformance/dist/index.js"
RESULTS = Path("target/it/federation-results")

# The least that must have been checked in each scenario that Pegboard is to pass. The suite itself is content with a
# scenario in which nothing was checked.
LEAST = {
    "2025-11-25": {"initialize": 1, "tools_call": 2, "sse-retry": 3, "json-schema-2020-12-preservation": 9},
    "2026-07-28": {
        "tools_call": 2,
        "request-metadata": 5,
        "sep-2322-client-request-state": 2,
        "http-standard-headers": 3,
        "http-custom-headers": 18,
        "http-invalid-tool-headers": 12,
        "json-schema-ref-no-deref": 1,
        "json-schema-2020-12-preservation": 9,
    },
}
# Scenarios that are younger than their revision. The suite runs them, and does not count them.
NOT_SCORED = ["json-schema-2020-12-preservation"]


def outcome(results: Path, scenario: str, status: str) -> list:
    (folder,) = results.glob(f"{scenario}-*")
    return [it for it in json.loads((folder / "checks.json").read_text()) if it["status"] == status]


@pytest.mark.parametrize("revision", LEAST)
def test_conformance(pegboard, revision):
    results = RESULTS / revision
    shutil.rmtree(results, ignore_errors=True)
    command = [
        "node", SUITE, "client",
        "--command", f"{sys.executable} -I {HERE / 'conformance_command.py'}",
        "--requirements", revision,
        "--expected-failures", str(HERE / f"expected-{revision}.yml"),
        "--output-dir", str(results),
    ]  # fmt: skip
    environment = {**os.environ, "PEGBOARD_URL": pegboard.url}
    done = subprocess.run(command, timeout=150, check=False, capture_output=True, text=True, env=environment)
    summary = done.stdout[done.stdout.find("SUITE SUMMARY") :]
    assert done.returncode == 0, summary + done.stderr[-4000:]
    for scenario, least in LEAST[revision].items():
        passed = outcome(results, scenario, "SUCCESS")
        assert len(passed) >= least, f"{scenario}: {len(passed)} checks passed\n{summary}"
    for scenario in NOT_SCORED:
        assert outcome(results, scenario, "FAILURE") == []
    print(summary)
