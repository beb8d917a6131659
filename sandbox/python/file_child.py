"""One call on files, in a process of its own: the child locks itself into its folder, waits for the supervisor's word, runs
the code, reports the outcome, and ends.

The child stands in for the module `child` in the second room's zygote. The supervisor makes the folder before the call,
and reads it after the child's death.
"""

import importlib
import json
import os
import sys
import tempfile

import file_guest
import file_loop
import landlock
import lockdown
import report
import room
import streams
import toolset_binding

FILTERS = 4
DESCRIPTORS = 6  # The request, the pipes for stdout, stderr and the result, the pipe for the supervisor's word, the folder.
NO_WALL = 70  # The exit status for code that was not run.
BALLAST_BYTES = 2 << 20  # Freed when memory has run out, so that the error can be reported.
# The most open files, and the bytes of one file. Where the folder is no file system of its own, files that are deleted but
# still open are bounded by these limits alone.
MOST_DESCRIPTORS, MOST_FILE_BYTES = (256, 64 << 20) if room.MOUNTED else (64, 16 << 20)
GO, FOLDER = 4, 5  # Descriptors of the child, after those of the streams.
WORD = b"g"

# The folder of a call: the session's files, temporary files, and the files of a bundle, which cannot be written.
FILES, TEMPORARY, BUNDLE = "files", "tmp", "bundle"

# Modules that tools often import. A child imports all others from their files.
MODULES = """
abc argparse array ast asyncio base64 binascii bisect bz2 calendar cmath collections collections.abc colorsys configparser
contextlib contextvars copy copyreg csv dataclasses datetime decimal difflib email email.message email.parser enum errno
fileinput filecmp fnmatch fractions functools gc glob graphlib gzip hashlib heapq hmac html html.parser http importlib
importlib.resources inspect io ipaddress itertools json keyword linecache locale logging lzma marshal math mimetypes mmap
numbers operator os os.path pathlib pickle pkgutil platform pprint queue quopri random re reprlib secrets select shelve
shlex shutil signal sqlite3 stat statistics string struct subprocess sys sysconfig tarfile tempfile textwrap threading time
tokenize traceback types typing unicodedata unittest urllib.parse uuid warnings weakref xml.dom.minidom xml.etree.ElementTree
xml.sax zipfile zlib zoneinfo
"""


_python_folders = []  # The folders that modules are imported from.


def warm_up():
    """Loads everything that a child could not load: extension modules, whose code the filter keeps out of memory. Loads
    common modules too, because children share them."""
    streams.open_all()
    for name in MODULES.split():
        importlib.import_module(name)
    _load_extensions()
    import platform

    platform.uname()  # Its answer is kept, and a child may not ask the system.
    toolset_binding.rehearse()
    file_loop.install()
    file_loop.run(_nothing())
    try:
        exec(report.compile_source("def é():\n    raise ValueError('é')\né()"), {})
    except ValueError as error:
        report.failed(error, "def é():\n    raise ValueError('é')\né()")
    _python_folders[:] = (os.path.realpath(each) for each in sys.path if os.path.isdir(each))
    _hide_own_modules()


def run(parent, limits, descriptors, filters):
    """Runs the call. This function does not return."""
    try:
        lockdown.die_with_parent()
        if os.getppid() != parent:
            os._exit(NO_WALL)
        source = _take(descriptors)
        place = _enter_folder()
        address_space, cpu_seconds = limits
        ballast = [bytes(BALLAST_BYTES)]  # Not a bytearray, which Python would fill, and so occupy.
        lockdown.enter(filters, address_space + BALLAST_BYTES, cpu_seconds, MOST_DESCRIPTORS, MOST_FILE_BYTES)
        # Without the supervisor's word nothing has begun, so a call that got no word can be made again elsewhere.
        if os.read(GO, 1) != WORD:
            os._exit(NO_WALL)
        # Standard input is at its end, as this pipe is. SQLite uses no file whose descriptor is that of a standard stream.
        os.dup2(GO, 0, inheritable=False)
        os.close(GO)
    except BaseException:
        os._exit(NO_WALL)
    status = 1
    try:
        status = _answer(source, place, ballast)
    finally:  # No exception may leave this function.
        os._exit(status)


def _answer(source, place, ballast):
    code = ""
    try:
        request = json.loads(source)
        source = None
        code = request.get("code") or ""
        file_guest.settle(os.path.join(place, BUNDLE))
        work = file_guest.inspect_all if "inspect" in request else file_guest.run
        frame, status = report.succeeded(work(request, os.path.join(place, FILES))), 0
    except SystemExit as error:
        frame, status = report.left(error, True)
    except BaseException as error:
        ballast.clear()
        file_guest.explain(error)
        frame, status = report.failed(error, code)
    streams.flush()
    streams.report(frame)
    return status


def _take(descriptors):
    """Reads the request, and closes all descriptors except the pipes and the folder."""
    request, *pipes, go, folder = descriptors
    source = os.pread(request, os.fstat(request).st_size, 0)
    # Copies with high numbers, because the places of the pipes may be the numbers of the originals.
    go, folder = (os.dup(each) for each in (go, folder))
    streams.connect(pipes)
    os.dup2(go, GO, inheritable=False)
    os.dup2(folder, FOLDER, inheritable=False)
    os.closerange(FOLDER + 1, os.sysconf("SC_OPEN_MAX"))
    return source


def _enter_folder():
    """Makes the folder the only place that can be written, and returns its path. The path holds a name that only this
    child learns."""
    os.fchdir(FOLDER)
    place = os.getcwd()
    if room.LANDLOCK:
        landlock.enter((*_python_folders, BUNDLE), (FILES, TEMPORARY))
    os.chdir(FILES)
    os.close(FOLDER)
    tempfile.tempdir = os.path.join(place, TEMPORARY)
    os.environ.update(HOME=tempfile.tempdir, TMPDIR=tempfile.tempdir)
    return place


def _load_extensions():
    folder = next((each for each in sys.path if each.endswith("lib-dynload")), None)
    for file in sorted(os.listdir(folder)) if folder else ():
        name = file.partition(".")[0]
        if not name.startswith(("_test", "_xx", "xx", "_ctypes_test", "_tkinter")):
            try:
                importlib.import_module(name)
            except ImportError:
                pass  # A library of the system is missing.


def _hide_own_modules():
    """Frees the names of our own modules, which are no files, for modules of a bundle. Ours know each other already."""
    own = [name for name, module in sys.modules.items() if getattr(module, "__spec__", name) is None]
    for name in own:
        if name not in ("__main__", "covalt_toolset"):
            del sys.modules[name]


async def _nothing():
    pass
