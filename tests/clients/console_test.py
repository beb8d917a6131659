#!/usr/bin/env python3
"""The console in a browser: console_test.py TEMPLATE_STATE [--pictures]

The tests of tests/clients/console use the pages of the console like a person, in the browser CHROMIUM. The console is served
by dist/ in workerd, on a copy of TEMPLATE_STATE: by one server in open mode, and by one that asks for tokens. PEGBOARD_SANDBOX_URL is the address of a Python sandbox. The
tests are left out if CHROMIUM is not set. With --pictures, the pictures of docs/images are taken instead.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

from worker import serving

HERE = Path(__file__).parent


def main(template: str, pictures: str = "") -> int:
    if not os.environ.get("CHROMIUM"):
        print("CHROMIUM is not set, so the console is not tested in a browser")
        return 0
    tests = sorted(str(path) for path in (HERE / "console").glob("*.test.mjs"))
    Path("target/it/console").mkdir(parents=True, exist_ok=True)
    variables = ["AUTH=open", "SECRET_KEY=console-test", "PRIVATE_URLS=allow", f"SANDBOX_URL={os.environ['PEGBOARD_SANDBOX_URL']}"]
    root = "root-token-of-the-console"
    closed_variables = ["AUTH=required", "SECRET_KEY=console-test", f"ROOT_TOKEN={root}"]
    with (
        serving("console-clients-state", template, variables, ("--assets",)) as url,
        serving("console-closed-state", template, closed_variables, ("--assets",)) as closed,
    ):
        environment = {**os.environ, "CONSOLE_TEST": json.dumps({"url": url, "closed": {"url": closed, "root": root}})}
        if pictures == "--pictures":
            return subprocess.run(["node", str(HERE / "console/pictures.mjs")], timeout=600, check=False, env=environment).returncode
        # Two files at once, because each has a browser of its own. The reporter `dot` shows failures in full.
        command = ["node", "--test", "--test-reporter=dot", "--test-concurrency=2", "--test-timeout=180000", *tests]
        return subprocess.run(command, timeout=900, check=False, env=environment).returncode


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
