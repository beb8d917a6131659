#!/usr/bin/env python3
"""Checks the Worker against openapi.json: api_test.py TEMPLATE_STATE

Schemathesis reads openapi.json, generates valid and invalid requests for every operation, and checks each response against
the description. It runs against dist/ in workerd, in open mode, on a copy of TEMPLATE_STATE. The generation is deterministic:
the same code gets the same requests.
"""

import os
import subprocess
import sys
from pathlib import Path

from scripted_model import Reply, serving_model
from worker import serving

# positive_data_acceptance is left out, because a well-formed request may name something that does not exist.
CHECKS = [
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "response_schema_conformance",
    "negative_data_rejection",
    "missing_required_header",
    "unsupported_method",
    "allow_header_conformance",
    "use_after_free",
    "ensure_resource_availability",
]

SCHEMATHESIS = [
    str(Path(sys.executable).with_name("schemathesis")),
    "run",
    "openapi.json",
    "--header=X-Workspace-Id: schemathesis",
    f"--checks={','.join(CHECKS)}",
    "--phases=examples,coverage,fuzzing,stateful",
    "--max-examples=10",
    "--generation-deterministic",
    "--request-timeout=10",
    # One request at a time, because two threads of Python 3.11 disturb each other in its parser.
    "--workers=1",
    "--no-color",
]


def main(template: str) -> int:
    # Without a model every turn would be a 503.
    with (
        serving_model(lambda _messages: Reply("Hello")) as model,
        serving(
            "api-state",
            template,
            ["AUTH=open", "SECRET_KEY=api-test", f"MODEL_URL={model.url}", "MODEL_NAME=scripted"],
        ) as url,
    ):
        environment = {**os.environ, "SCHEMATHESIS_HOOKS": "api_hooks", "PYTHONPATH": str(Path(__file__).parent)}
        # A timeout, because CI must end. The run takes about two minutes alone, and several beside other tests.
        return subprocess.run([*SCHEMATHESIS, f"--url={url}"], env=environment, timeout=1200, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
