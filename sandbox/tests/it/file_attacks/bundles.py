# Bundles: read-only in every way, and their modules poison nobody but themselves.
import os, sys
BUNDLE = os.path.join(os.path.dirname(os.getcwd()), "bundle")

def attempt(action, *arguments, **options):
    try:
        print("ESCAPED", action(*arguments, **options))
    except OSError:
        print("blocked")

#: bundle_is_read -> ok prints=text
print(open(os.path.join(BUNDLE, "b.txt")).read())
#> bundle/b.txt
text

#: bundle_file_written -> ok prints=blocked
attempt(open, os.path.join(BUNDLE, "b.txt"), "w")
#> bundle/b.txt
text

#: bundle_file_appended -> ok prints=blocked
attempt(open, os.path.join(BUNDLE, "b.txt"), "a")
#> bundle/b.txt
text

#: bundle_file_opened_for_both -> ok prints=blocked
attempt(open, os.path.join(BUNDLE, "b.txt"), "r+b")
#> bundle/b.txt
text

#: bundle_file_truncated -> ok prints=blocked
attempt(os.truncate, os.path.join(BUNDLE, "b.txt"), 0)
#> bundle/b.txt
text

#: bundle_file_truncated_by_opening -> ok prints=blocked
attempt(os.open, os.path.join(BUNDLE, "b.txt"), os.O_RDONLY | os.O_TRUNC)
#> bundle/b.txt
text

#: bundle_file_removed -> ok prints=blocked
attempt(os.unlink, os.path.join(BUNDLE, "b.txt"))
#> bundle/b.txt
text

#: bundle_file_renamed -> ok prints=blocked
attempt(os.rename, os.path.join(BUNDLE, "b.txt"), os.path.join(BUNDLE, "c.txt"))
#> bundle/b.txt
text

#: bundle_file_moved_here -> ok prints=blocked
attempt(os.rename, os.path.join(BUNDLE, "b.txt"), "b.txt")
#> bundle/b.txt
text

#: bundle_file_replaced -> ok prints=blocked changed=/own
open("own", "w").close()
attempt(os.replace, "own", os.path.join(BUNDLE, "b.txt"))
#> bundle/b.txt
text

#: bundle_file_added -> ok prints=blocked
attempt(open, os.path.join(BUNDLE, "new.py"), "w")
#> bundle/b.txt
text

#: bundle_file_added_to_a_part -> ok prints=blocked
attempt(open, os.path.join(BUNDLE, "tools/new.py"), "w")
#> bundle/tools/b.py
text = 1

#: bundle_directory_added -> ok prints=blocked
attempt(os.mkdir, os.path.join(BUNDLE, "new"))
#> bundle/b.txt
text

#: bundle_directory_removed -> ok prints=blocked
attempt(os.rmdir, os.path.join(BUNDLE, "tools"))
#> bundle/tools/b.py
text = 1

#: bundle_directory_renamed -> ok prints=blocked
attempt(os.rename, os.path.join(BUNDLE, "tools"), os.path.join(BUNDLE, "other"))
#> bundle/tools/b.py
text = 1

#: bundle_made_writable -> ok prints=blocked
# A change of permissions is only pretended.
for name in ("", "b.txt"):
    os.chmod(os.path.join(BUNDLE, name), 0o777)
attempt(open, os.path.join(BUNDLE, "b.txt"), "w")
#> bundle/b.txt
text

#: bundle_made_writable_and_extended -> ok prints=blocked
os.chmod(BUNDLE, 0o777)
attempt(open, os.path.join(BUNDLE, "new"), "w")
#> bundle/b.txt
text

#: bundle_mapped -> ok prints=blocked
import mmap
file = os.open(os.path.join(BUNDLE, "b.txt"), os.O_RDONLY)
attempt(mmap.mmap, file, 0, mmap.MAP_SHARED, mmap.PROT_READ | mmap.PROT_WRITE)
#> bundle/b.txt
text

#: bundle_mapped_and_made_writable -> ok prints=blocked
import ctypes, mmap
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
file = os.open(os.path.join(BUNDLE, "b.txt"), os.O_RDONLY)
page = libc.mmap(None, ctypes.c_long(4096), 1, 1, file, ctypes.c_long(0))
print("ESCAPED" if libc.mprotect(ctypes.c_void_p(page), ctypes.c_long(4096), 3) == 0 else "blocked")
#> bundle/b.txt
text

#: bundle_in_the_kernel -> ok prints=blocked changed=/own
file = os.open("own", os.O_CREAT | os.O_RDWR)
os.write(file, b"evil")
attempt(os.copy_file_range, file, os.open(os.path.join(BUNDLE, "b.txt"), os.O_RDONLY), 4, 0, 0)
#> bundle/b.txt
text

#: bundle_modules_work -> ok prints=12 with={"module":"tools.a","function":"run"}
#> bundle/tools/a.py
import b, helper
def run(): print(b.one, helper.two, sep="")
#> bundle/tools/b.py
one = 1
#> bundle/helper.py
two = 2

#: bundle_module_of_a_package -> ok prints=3 with={"module":"pack.deep.er","function":"run"}
#> bundle/pack/__init__.py
x = 1
#> bundle/pack/deep/__init__.py
from .. import x
#> bundle/pack/deep/er.py
from . import x
from .mate import y
def run(): print(x + y)
#> bundle/pack/deep/mate.py
y = 2

#: bundle_module_of_python -> import with={"module":"os","function":"getcwd"}

#: bundle_module_of_the_harness -> import with={"module":"zygote","function":"main"}

#: bundle_poisons_json -> ok result=[1] with={"function":"run"}
import json
def run(): return json.loads("[1]")
#> bundle/json.py
def loads(*a): return "ESCAPED"
dumps = JSONEncoder = loads

#: bundle_poisons_os -> ok result=true with={"function":"run"}
import os.path
def run(): return os.path.isdir(".")
#> bundle/os.py
print("ESCAPED")
#> bundle/tools/os.py
print("ESCAPED")

#: bundle_poisons_pydantic -> ok result={"x":1} with={"function":"run","arguments":{"model":{"x":"1"}}}
import pydantic
class M(pydantic.BaseModel):
    x: int
def run(model: M): return model
#> bundle/pydantic/__init__.py
print("ESCAPED")
#> bundle/pydantic_core/__init__.py
print("ESCAPED")
#> bundle/tools/pydantic.py
print("ESCAPED")

#: bundle_poisons_covalt_toolset -> ok result="c" with={"function":"run","context":{"chat_id":"c"}}
from covalt_toolset import get_context
def run(): return get_context().chat_id
#> bundle/covalt_toolset.py
print("ESCAPED")
#> bundle/covalt_toolset/__init__.py
print("ESCAPED")

#: bundle_modules_named_like_the_harness -> ok result="own" with={"function":"run"}
# A bundle may have modules of these names. The harness has its own, and reports as usual.
import report, file_guest, lockdown, toolset_binding
def run(): return report.whose
#> bundle/report.py
whose = "own"
as_json = succeeded = failed = None
#> bundle/file_guest.py
run = None
#> bundle/lockdown.py
enter = None
#> bundle/toolset_binding.py
bind = to_json_value = None

#: bundle_poisons_modules_that_are_not_loaded_yet -> ok result="wave" with={"function":"run"}
import wave
def run(): return wave.__name__ if hasattr(wave, "open") else "ESCAPED"
#> bundle/wave.py
print("ESCAPED")

#: bundle_poisons_encodings -> ok result="é" with={"function":"run"}
def run(): return "é".encode("cp273").decode("cp273")
#> bundle/encodings/__init__.py
print("ESCAPED")
#> bundle/encodings/cp273.py
print("ESCAPED")

#: bundle_poisons_the_report_of_an_error -> exception with={"module":"tools.bad","function":"run"}
#> bundle/tools/bad.py
def run(): raise ValueError("plain")
#> bundle/traceback.py
print("ESCAPED")
#> bundle/linecache.py
print("ESCAPED")
#> bundle/tokenize.py
print("ESCAPED")

#: bundle_customizes_the_site -> ok prints=
#> bundle/sitecustomize.py
print("ESCAPED")
#> bundle/usercustomize.py
print("ESCAPED")
#> bundle/evil.pth
import os; print("ESCAPED")

#: bundle_module_that_ends_the_process -> killed with={"module":"m","function":"run"}
#> bundle/m.py
import os
os._exit(0)

#: bundle_module_without_end -> timeout time=0.3 with={"module":"m","function":"run"}
#> bundle/m.py
while True: pass

#: bundle_module_with_syntax_error -> exception|syntax with={"module":"m","function":"run"}
#> bundle/m.py
def run(:

#: bundle_modules_in_a_circle -> ok prints=fine with={"module":"a","function":"run"}
#> bundle/a.py
import b
def run(): print("fine")
#> bundle/b.py
import a

#: bundle_module_that_is_missing -> import with={"module":"nowhere","function":"run"}

#: bundle_module_outside_of_the_bundle -> import with={"module":"own","function":"run"}
#> files/own.py
def run(): print("ESCAPED")

#: bundle_module_that_replaces_itself -> ok|exception|import with={"module":"m","function":"run"}
#> bundle/m.py
import sys
class Evil:
    __file__ = __file__
    def __getattr__(self, name): raise SystemExit(0)
sys.modules["m"] = Evil()

#: bundle_extension_module -> import with={"module":"m","function":"run"}
#> bundle/m.so
ELF

#: bundle_archive_of_modules -> import with={"module":"m","function":"run"}
#> bundle/m.zip
PK
