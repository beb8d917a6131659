# Reaching modules that are not on the list, and the functions that can load more.
import json, re, typing
sys = typing.sys

#: import_os -> import
import os

#: import_sys -> import
import sys

#: import_from -> import
from os import system

#: import_as -> import
import subprocess as json

#: import_star -> import
from posix import *

#: import_submodule -> import
import os.path

#: import_with_similar_name -> import
import jsonx

#: import_relative -> import
__name__ = "json.decoder"; __package__ = "json"
from . import scanner

#: import_dunder -> import
__import__("os")

#: import_dunder_positional -> import
__import__("json", {}, {}, [], 1)

#: import_in_function -> import
def f():
    import socket
f()

#: import_in_exec -> import
exec("import socket")

#: import_in_eval -> import
eval("__import__('socket')")

#: import_in_class_body -> import
class A:
    import socket

#: import_in_lambda_default -> import
f = lambda s=__import__("socket"): s

#: import_inside_try_except -> ok prints=blocked
try:
    import socket
except ImportError:
    print("blocked")

#: import_error_says_what_is_allowed -> ok prints=True
try:
    import socket
except ImportError as error:
    print("json, re, typing" in str(error) and error.name == "socket")

#: import_parts_of_allowed_modules -> ok prints=fine
import json.decoder, re
from typing import *
from json.encoder import JSONEncoder
print("fine")

#: import_part_that_needs_a_file -> import
import json.tool

#: import_from_real_builtins -> ok prints=blocked
try:
    print("ESCAPED", sys.modules["builtins"].__import__("socket").socket())
except (ImportError, OSError):
    print("blocked")

#: import_by_importlib -> ok prints=blocked
bootstrap = sys.modules["_frozen_importlib"]
try:
    print("ESCAPED", bootstrap._gcd_import("subprocess"))
except (ImportError, OSError):
    print("blocked")

#: import_by_meta_path -> ok prints=blocked
for finder in sys.meta_path:
    try:
        spec = finder.find_spec("socket", None)
        if spec and spec.loader:
            print("ESCAPED", spec.loader.get_data(spec.origin)[:10])
    except (ImportError, OSError, AttributeError):
        pass
print("blocked")

#: import_by_loader_of_json -> ok prints=blocked
try:
    print("ESCAPED", json.__loader__.get_data("/etc/passwd"))
except OSError:
    print("blocked")

#: import_by_source_loader -> ok prints=blocked
external = sys.modules["_frozen_importlib_external"]
try:
    external.SourceFileLoader("x", "/etc/passwd").load_module()
    print("ESCAPED")
except (ImportError, OSError, SyntaxError):
    print("blocked")

#: import_shared_object -> ok prints=blocked
imp, spec = sys.modules["_imp"], type(json.__spec__)("evil", None, origin="/usr/lib/x86_64-linux-gnu/libc.so.6")
try:
    print("ESCAPED", imp.create_dynamic(spec))
except (ImportError, OSError):
    print("blocked")

#: import_builtin_by_imp -> ok prints=blocked
imp = sys.modules["_imp"]
faulthandler = imp.create_builtin(type(json.__spec__)("faulthandler", None))
imp.exec_builtin(faulthandler)
try:
    faulthandler.dump_traceback_later(0.1, file=2)
    print("ESCAPED")
except (RuntimeError, OSError, ValueError, AttributeError):
    print("blocked")

#: import_zip -> ok prints=blocked
try:
    sys.modules["zipimport"].zipimporter("/tmp/x.zip")
    print("ESCAPED")
except (ImportError, OSError, KeyError):
    print("blocked")

#: import_path_hijack -> ok prints=blocked
sys.path[:] = ["/tmp", "/proc/self/cwd", ""]
sys.path_importer_cache.clear()
try:
    sys.modules["builtins"].__import__("this")
    print("ESCAPED")
except (ImportError, OSError):
    print("blocked")

#: import_replaced_hook -> ok prints=blocked
__builtins__["__import__"] = sys.modules["builtins"].__import__
try:
    import ftplib
    print("ESCAPED")
except (ImportError, OSError):
    print("blocked")
