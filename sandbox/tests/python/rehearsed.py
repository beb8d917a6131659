"""Loads the modules as the sandbox does, rehearses, and then uses `samples.py`: rehearsed.py PACKAGES MODULES SAMPLES.

Prints what was opened, listed or imported after the rehearsal, and how much was done, as JSON. Each has a traceback.
"""

import json
import os
import pathlib
import sys
import traceback

packages, folder, samples = sys.argv[1:]
ORDER = (
    *("toolset_paths", "toolset_docstring", "toolset_values", "toolset_signature", "toolset_types", "toolset_schema"),
    *("toolset_returns", "toolset_errors", "covalt_toolset", "toolset_rehearsal", "toolset_binding"),
)
EVENTS = {"open", "import", "os.listdir", "os.scandir", "ctypes.dlopen", "os.putenv"}

sources = {name: pathlib.Path(folder, f"{name}.py").read_text() for name in ORDER}
code = compile(pathlib.Path(samples).read_text(), "samples.py", "exec", dont_inherit=True)
sys.path[:] = [*sys.path, packages]
os.environ.clear()
for name, source in sources.items():  # As load.py does.
    module = type(sys)(name)
    sys.modules[name] = module
    exec(compile(source, f"<{name}>", "exec"), module.__dict__)

binding = sys.modules["toolset_binding"]
os.environ.clear()
binding.rehearse()
for name in ("abc", "array", "functools"):
    __import__(name)  # The sandbox loads most of the standard library.
for name in ORDER:
    if name != "covalt_toolset":
        del sys.modules[name]  # A toolset may have modules of these names.
os.environ.clear()

found, done = [], 0
watching = True


def watch(event, arguments):
    if watching and event in EVENTS:
        stack = "".join(
            traceback.StackSummary.from_list(
                [(f.f_code.co_filename, n, f.f_code.co_name, "") for f, n in traceback.walk_stack(sys._getframe(1))]
            ).format()
        )
        found.append([event, repr(arguments)[:200], stack[-1500:]])


def attempt(action):
    global done
    done += 1
    try:
        action()
    except (ValueError, TypeError):
        return "refused"
    return "done"


outcomes = []
sys.addaudithook(watch)
module = type(sys)("samples")
sys.modules["samples"] = module
exec(code, vars(module))
for function, good, wrong in module.CALLS:
    outcomes.append(attempt(lambda: json.dumps(binding.describe(function))))
    for properties in (None, list(binding.describe(function)["parameters_schema"]["properties"])):
        outcomes.append(attempt(lambda: binding.bind(function, good, properties, pathlib.Path("/"))))
    for properties in (None, list(wrong), ["nothing"]):
        attempt(lambda: binding.bind(function, wrong, properties, pathlib.Path("/")))
for function in module.WRONG:
    attempt(lambda: binding.describe(function))
for value in module.VALUES:
    attempt(lambda: binding.to_json_value(value))
module.more()
watching = False
print(json.dumps({"found": found, "done": done, "outcomes": outcomes}))
