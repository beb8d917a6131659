"""The Worker for tests in Python: dist/ in workerd, on a copy of the migrated state."""

import contextlib
import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path


@contextlib.contextmanager
def serving(name: str, template: str, variables: list[str], options: tuple[str, ...] = ()) -> Iterator[str]:
    """Yields the URL of a server whose state, a copy of `template`, is called `name`."""
    state = Path("target/it") / name
    shutil.rmtree(state, ignore_errors=True)
    shutil.copytree(template, state)
    serve = ["node", "scripts/lib/serve.mjs", "--state", str(state), *options]
    for variable in variables:
        serve += ["--var", variable]
    # The server ends with its stdin, and so even if this process is killed.
    with subprocess.Popen(serve, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        ready = server.stdout.readline()
        if not ready:
            raise RuntimeError("the Worker did not start: see above")
        yield json.loads(ready)["url"]
        server.stdin.close()
