# Native code: raw system calls, libraries, and memory that could be executed.
import ctypes, importlib.machinery, importlib.util, mmap, os, sys
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
libc.mmap.restype = ctypes.c_ssize_t

def attempt(action, *arguments, **options):
    try:
        print("ESCAPED", action(*arguments, **options))
    except (OSError, ImportError, MemoryError, ValueError):
        print("blocked")

def attempt_raw(*arguments):
    got = libc.syscall(*[ctypes.c_long(each) if isinstance(each, int) else each for each in arguments])
    print("ESCAPED " + str(got) if got != -1 else "blocked")

def some_library():
    """The bytes of a library that Python has loaded already."""
    import _ctypes, pydantic_core._pydantic_core as core
    return open(core.__file__, "rb").read()

def write(name, data):
    with open(name, "wb") as file:
        file.write(data[: 9 << 20])

#: load_library_of_its_own -> ok prints=blocked changed=/evil.so
write("evil.so", some_library())
attempt(ctypes.CDLL, os.path.abspath("evil.so"))

#: load_library_in_the_temporary_directory -> ok prints=blocked
import tempfile
path = os.path.join(tempfile.gettempdir(), "evil.so")
write(path, some_library())
attempt(ctypes.CDLL, path)

#: load_library_of_the_system -> ok prints=blocked
for name in ("libutil.so.1", "libnss_files.so.2", "libthread_db.so.1", "libBrokenLocale.so.1", "libanl.so.1"):
    try:
        ctypes.CDLL(name)
        print("ESCAPED", name)
    except OSError:
        pass
print("blocked")

#: load_library_of_the_bundle -> ok prints=blocked
attempt(ctypes.CDLL, os.path.abspath("../bundle/evil.so"))
#> bundle/evil.so
ELF

#: import_extension_of_its_own -> ok prints=blocked changed=/evil.so
write("evil.so", some_library())
loader = importlib.machinery.ExtensionFileLoader("_pydantic_core", os.path.abspath("evil.so"))
attempt(loader.create_module, importlib.util.spec_from_loader("_pydantic_core", loader))

#: import_extension_from_its_directory -> ok prints=blocked changed=/evil.abi3.so
write("evil.abi3.so", some_library())
sys.path.insert(0, os.getcwd())
attempt(__import__, "evil")

#: extensions_of_python_are_all_loaded -> ok prints=[]
# What a child could not load, the zygote has.
import _bz2, _lzma, _sqlite3, _decimal, _hashlib, _json, _elementtree, _zoneinfo, unicodedata, _csv, _ssl
missing = []
for name in ("bz2", "lzma", "sqlite3", "decimal", "hashlib", "zoneinfo", "csv", "ssl", "audioop", "xml.etree.ElementTree"):
    try:
        __import__(name)
    except ImportError:
        missing.append(name)
print(missing)

#: map_file_executable -> ok prints=blocked changed=/code
write("code", b"\x31\xc0\xc3" + bytes(4093))
attempt(mmap.mmap, os.open("code", os.O_RDWR), 4096, mmap.MAP_SHARED, 7)

#: map_file_executable_and_private -> ok prints=blocked changed=/code
write("code", b"\x31\xc0\xc3" + bytes(4093))
print("ESCAPED" if libc.mmap(None, ctypes.c_long(4096), 5, 2, os.open("code", os.O_RDONLY), ctypes.c_long(0)) != -1 else "blocked")

#: map_file_executable_with_high_bits -> ok prints=blocked changed=/code
write("code", bytes(4096))
attempt_raw(SYS_mmap, 0, 4096, 5 | 1 << 40, 2, os.open("code", os.O_RDONLY), 0)

#: map_library_executable -> ok prints=blocked
import _ctypes, pydantic_core._pydantic_core as core
print("ESCAPED" if libc.mmap(None, ctypes.c_long(4096), 5, 2, os.open(core.__file__, os.O_RDONLY), ctypes.c_long(0)) != -1 else "blocked")

#: make_mapped_file_executable -> ok prints=blocked changed=/code
write("code", bytes(4096))
page = libc.mmap(None, ctypes.c_long(4096), 3, 1, os.open("code", os.O_RDWR), ctypes.c_long(0))
attempt_raw(SYS_mprotect, page, 4096, 5)

#: jump_into_a_mapped_file -> killed changed=/code
write("code", b"\x31\xc0\xc3" + bytes(4093))
page = libc.mmap(None, ctypes.c_long(4096), 3, 1, os.open("code", os.O_RDWR), ctypes.c_long(0))
ctypes.CFUNCTYPE(ctypes.c_int)(page)()

#: write_own_code_by_proc -> ok prints=blocked
attempt(open, "/proc/self/mem", "r+b")

#: callback_needs_memory_that_can_be_executed_on_files -> ok|killed|exception|memory
kept = [ctypes.CFUNCTYPE(ctypes.c_int)(lambda: 1) for each in range(1000)]

#: execute_own_file -> ok prints=blocked changed=/evil.sh
write("evil.sh", b"#!/bin/sh\necho ESCAPED\n")
os.chmod("evil.sh", 0o755)
attempt(os.execv, "./evil.sh", ["evil.sh"])

#: execute_own_file_by_descriptor -> ok prints=blocked changed=/evil.sh
write("evil.sh", b"#!/bin/sh\necho ESCAPED\n")
attempt_raw(SYS_execveat, os.open("evil.sh", os.O_RDONLY), b"", 0, 0, 0x1000)

#: execute_python -> ok prints=blocked
attempt(os.execv, "/usr/bin/python3", ["python3", "-c", "print('ESCAPED')"])

#: landlock_again -> ok prints=blocked
attempt_raw(SYS_landlock_create_ruleset, 0, 0, 1)

#: landlock_restrict -> ok prints=blocked
attempt_raw(SYS_landlock_restrict_self, 1, 0)

#: filter_again -> ok prints=blocked
attempt_raw(SYS_seccomp, 1, 0, bytes(16))

#: filter_by_prctl -> ok prints=blocked
attempt_raw(SYS_prctl, 22, 2, bytes(16), 0, 0)

#: version_of_filters -> ok prints=blocked
attempt_raw(SYS_seccomp, 2, 0, bytes(4))

#: become_dumpable -> ok prints=blocked
attempt_raw(SYS_prctl, 4, 1, 0, 0, 0)

#: outlive_the_zygote -> ok prints=blocked
attempt_raw(SYS_prctl, 1, 0, 0, 0, 0)

#: raise_file_limits -> ok prints=blocked
import resource
attempt(resource.setrlimit, resource.RLIMIT_FSIZE, (-1, -1))

#: old_file_pages -> ok prints=blocked
attempt_raw(SYS_remap_file_pages, 0, 4096, 0, 0, 0)

#: commands_of_descriptors -> ok prints=[]
# All but copies, flags and locks are forbidden.
import fcntl
got = []
for command in range(0, 1100):
    ctypes.set_errno(0)
    if command not in (0, 1, 2, 3, 4, 5, 6, 7, 36, 37, 38, 1030):
        if libc.syscall(ctypes.c_long(SYS_fcntl), ctypes.c_long(1), ctypes.c_long(command), ctypes.c_long(0)) != -1 or ctypes.get_errno() != 1:
            got.append(command)
print(got)

#: commands_of_devices -> ok prints=[]
# Of the 65,536 usual numbers only those for terminals and for closing are answered.
got = []
for command in range(0, 1 << 16):
    ctypes.set_errno(0)
    if libc.syscall(ctypes.c_long(SYS_ioctl), ctypes.c_long(1), ctypes.c_long(command), ctypes.c_long(0)) != -1 or ctypes.get_errno() != 1:
        got.append(command)
print([command for command in got if command not in (0x5401, 0x5413, 0x5450, 0x5451)])
