# Files that are left in the session for the next call, which the test makes on the files that each attack leaves.
import os
POISON = "import builtins\nbuiltins.len = lambda x: 'poisoned'\nprint('ESCAPED')\n"

#: left_path_file -> ok changed=/evil.pth,/lib/python3/site-packages/evil.pth
os.makedirs("lib/python3/site-packages")
for name in ("evil.pth", "lib/python3/site-packages/evil.pth"):
    open(name, "w").write("import os; print('ESCAPED')\n")

#: left_site_customize -> ok changed=/sitecustomize.py,/usercustomize.py
for name in ("sitecustomize.py", "usercustomize.py"):
    open(name, "w").write(POISON)

#: left_test_configuration -> ok changed=/conftest.py,/pyproject.toml,/pytest.ini,/setup.cfg
open("conftest.py", "w").write(POISON)
for name in ("pytest.ini", "setup.cfg", "pyproject.toml"):
    open(name, "w").write("[pytest]\naddopts = -p conftest\n")

#: left_modules_of_the_standard_library -> ok changed=/asyncio.py,/json.py,/os.py,/pathlib.py,/sqlite3.py,/tempfile.py
for name in ("asyncio", "json", "os", "pathlib", "sqlite3", "tempfile"):
    open(name + ".py", "w").write(POISON)

#: left_packages -> ok changed=/covalt_toolset.py,/pydantic/__init__.py,/pydantic_core.py,/tools/plain_help.py
os.mkdir("pydantic")
os.mkdir("tools")
for name in ("pydantic/__init__", "covalt_toolset", "pydantic_core", "tools/plain_help"):
    open(name + ".py", "w").write(POISON)

#: left_modules_of_the_harness -> ok changed=/file_guest.py,/lockdown.py,/main.py,/report.py,/room.py,/streams.py
for name in ("file_guest", "lockdown", "main", "report", "room", "streams"):
    open(name + ".py", "w").write(POISON)

#: left_module_of_the_next_bundle -> ok changed=/plain_help.py
open("plain_help.py", "w").write("def double(x): return 'poisoned'")

#: left_bytecode -> ok changed=/__pycache__/plain_help.cpython-311.pyc,/plain_help.pyc
import importlib.util, marshal
code = compile(POISON, "plain_help.py", "exec")
data = importlib.util.MAGIC_NUMBER + bytes(12) + marshal.dumps(code)
os.mkdir("__pycache__")
for name in ("plain_help.pyc", "__pycache__/plain_help.cpython-311.pyc"):
    open(name, "wb").write(data)

#: left_extension_module -> ok changed=/json.abi3.so,/plain_help.so,/pydantic_core/_pydantic_core.so
os.mkdir("pydantic_core")
for name in ("plain_help.so", "json.abi3.so", "pydantic_core/_pydantic_core.so"):
    open(name, "wb").write(b"\x7fELF" + bytes(100))

#: left_archive_of_modules -> ok changed=/python311.zip
import zipfile
with zipfile.ZipFile("python311.zip", "w") as archive:
    archive.writestr("plain_help.py", POISON)

#: left_virtual_environment -> ok changed=/bin/python3,/pyvenv.cfg
open("pyvenv.cfg", "w").write("home = .\ninclude-system-site-packages = true\n")
os.mkdir("bin")
open("bin/python3", "w").write("#!/bin/sh\n")

#: left_startup_files -> ok changed=/.bashrc,/.config/pip/pip.conf,/.netrc,/.profile,/.pydistutils.cfg,/.pythonrc.py,/.sqliterc
os.makedirs(".config/pip")
for name in (".pythonrc.py", ".pydistutils.cfg", ".netrc", ".bashrc", ".profile", ".sqliterc", ".config/pip/pip.conf"):
    open(name, "w").write(POISON)

#: left_environment_file -> ok changed=/.env
open(".env", "w").write("PYTHONPATH=.\nPYTHONSTARTUP=.env\nLD_PRELOAD=./evil.so\n")

#: left_marker_of_packages -> ok changed=/.git/config,/.git/hooks/post-checkout,/node_modules/.bin/node
for name in (".git/config", ".git/hooks/post-checkout", "node_modules/.bin/node"):
    os.makedirs(os.path.dirname(name), exist_ok=True)
    open(name, "w").write("x")

#: changed_environment -> ok
os.environ.update(HOME="/", TMPDIR="/", PYTHONPATH=os.getcwd(), PYTHONSTARTUP="evil.py", LD_PRELOAD="./evil.so")
import tempfile
tempfile.tempdir = "/"

#: changed_search_path -> ok changed=/plain_help.py
import sys
open("plain_help.py", "w").write(POISON)
sys.path.insert(0, os.getcwd())
sys.meta_path.clear()
sys.path_hooks.clear()
sys.path_importer_cache.clear()

#: changed_directory -> ok
os.chdir("/")

#: changed_event_loop -> ok
import asyncio
asyncio.set_event_loop_policy(None)
asyncio.run = asyncio.sleep = None

#: changed_models -> ok|exception
import pydantic, pydantic.main
pydantic.BaseModel.__init__ = lambda *a, **k: None
pydantic.BaseModel.model_dump = lambda self: "poisoned"
pydantic.main.BaseModel = dict

#: changed_context -> ok
import covalt_toolset
covalt_toolset.get_context = lambda: None
covalt_toolset._context = "poisoned"

#: changed_library -> ok
import json, os, pathlib, sqlite3
json.loads = json.dumps = os.listdir = os.remove = pathlib.Path.read_text = sqlite3.connect = lambda *a, **k: "poisoned"

#: changed_file_mask -> ok changed=/a
os.umask(0o777)
open("a", "w").close()
