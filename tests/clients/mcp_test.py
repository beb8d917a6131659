#!/usr/bin/env python3
"""Real MCP clients against the Worker: mcp_test.py TEMPLATE_STATE

This runs the official conformance suite in both revisions, with its expected failures in
tests/clients/mcp/expected-*.yml, and the unmodified clients of the TypeScript and Python SDKs, with a token and without.
They send their requests to dist/ in workerd, in open mode, on a copy of TEMPLATE_STATE.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "mcp"))

import fixtures  # noqa: E402
from worker import serving  # noqa: E402

RESULTS = Path("target/it/mcp-results")
REVISIONS = ["2025-11-25", "2026-07-28"]

VARS = ["AUTH=open", "SECRET_KEY=mcp-test", "PRIVATE_URLS=allow"]


def conformance(url: str, revision: str) -> int:
    command = [
        "node", "node_modules/@modelcontextprotocol/conformance/dist/index.js", "server",
        "--url", f"{url}/w/{fixtures.WORKSPACE}/mcp?session={fixtures.SESSION}",
        "--requirements", revision,
        "--expected-failures", str(HERE / "mcp" / f"expected-{revision}.yml"),
        "--output-dir", str(RESULTS / revision),
    ]  # fmt: skip
    print(f"\n--- conformance, {revision}", flush=True)
    done = subprocess.run(command, timeout=300, check=False, capture_output=True, text=True)
    # The output about every scenario is long; the summary at the end names the failures.
    lines = done.stdout.splitlines()
    summary = next((index for index, line in enumerate(lines) if "SUMMARY" in line), 0)
    print("\n".join(lines[summary:]), done.stderr if done.returncode else "", flush=True)
    return done.returncode


def client(url: str, command: list[str], fixed: dict) -> int:
    print(f"\n--- {' '.join(command)}", flush=True)
    known = {"url": url, "workspace": fixtures.WORKSPACE, "session": fixtures.SESSION, **fixed}
    environment = {**os.environ, "MCP_TEST": json.dumps(known)}
    return subprocess.run(command, timeout=120, check=False, env=environment).returncode


def main(template: str) -> int:
    shutil.rmtree(RESULTS, ignore_errors=True)
    with serving("mcp-state", template, VARS) as url:
        fixed = fixtures.set_up(url)
        failed = [revision for revision in REVISIONS if conformance(url, revision)]
        # Once without a token, as on a development machine, and once with a token.
        for known in ({**fixed, "token": None}, fixed):
            for command in (["node", str(HERE / "mcp" / "client.mjs")], [sys.executable, str(HERE / "mcp" / "client.py")]):
                if client(url, command, known):
                    failed.append(command[-1])
    if failed:
        print(f"\nerror: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
