"""After the rehearsal, nothing opens a file: a call that is locked in could not."""

import json
import os
import pathlib
import subprocess
import sys

import pydantic
from support import Case

HERE = pathlib.Path(__file__).parent


class Rehearsal(Case):
    @classmethod
    def setUpClass(cls):
        packages = pathlib.Path(pydantic.__file__).parents[1]
        command = [
            sys.executable,
            "-I",
            "-S",
            "-B",
            "-X",
            "utf8",
            HERE / "rehearsed.py",
            packages,
            HERE / "../../python",
            HERE / "samples.py",
        ]
        done = subprocess.run(command, capture_output=True, text=True, env={**os.environ})
        if done.returncode:
            raise AssertionError(done.stderr)
        cls.noise = done.stderr + done.stdout.rpartition('{"found"')[0]
        cls.told = json.loads(done.stdout)

    def test_nothing_is_opened(self):
        self.assertEqual("\n\n".join("\n".join(each) for each in self.told["found"]), "")

    def test_something_was_done(self):
        self.assertGreater(self.told["done"], 40)
        self.assertEqual(set(self.told["outcomes"]), {"done"}, self.told["outcomes"])

    def test_nothing_is_printed(self):
        self.assertEqual(self.noise, "")
