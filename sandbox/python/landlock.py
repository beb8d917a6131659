"""The second layer of landlock, which a child enters for itself: its own folder, and Python's files, read-only.

The launcher has entered the first layer for the zygote and all its children. Layers only narrow each other.
"""

import ctypes
import os

CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446  # System calls; the same on every architecture.
TELL_VERSION = 1
PATH_BENEATH = 1

WRITE_FILE, READ_FILE, READ_DIR, REMOVE_DIR, REMOVE_FILE = 1 << 1, 1 << 2, 1 << 3, 1 << 4, 1 << 5
MAKE_DIR, MAKE_REG, REFER, TRUNCATE = 1 << 7, 1 << 8, 1 << 13, 1 << 14
READ = READ_FILE | READ_DIR
# Plain files and directories, without links, devices, sockets and pipes.
WRITE = READ | WRITE_FILE | REMOVE_DIR | REMOVE_FILE | MAKE_DIR | MAKE_REG | REFER | TRUNCATE

# How many rights each version of landlock knows.
RIGHTS = ((5, 16), (3, 15), (2, 14), (1, 13))

_syscall = ctypes.CDLL(None, use_errno=True).syscall
_syscall.restype = ctypes.c_long


class _Ruleset(ctypes.Structure):
    """The first field of struct landlock_ruleset_attr. The other fields belong to the first layer."""

    _fields_ = (("handled_access_fs", ctypes.c_uint64),)


class _PathBeneath(ctypes.Structure):
    """struct landlock_path_beneath_attr"""

    _pack_ = 1
    _fields_ = (("allowed_access", ctypes.c_uint64), ("parent_fd", ctypes.c_int32))


def known_rights():
    version = _call(CREATE_RULESET, None, 0, TELL_VERSION)
    count = next(count for since, count in RIGHTS if version >= since)
    return (1 << count) - 1


def enter(readable, writable):
    """Takes all rights on files away, except those below the given directories. Every failure is raised."""
    known = known_rights()
    attributes = _Ruleset(known)
    ruleset = _call(CREATE_RULESET, ctypes.byref(attributes), ctypes.sizeof(attributes), 0)
    for rights, paths in ((READ, readable), (WRITE, writable)):
        for path in paths:
            beneath = os.open(path, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
            rule = _PathBeneath(rights & known, beneath)
            _call(ADD_RULE, ruleset, PATH_BENEATH, ctypes.byref(rule), 0)
            os.close(beneath)
    _call(RESTRICT_SELF, ruleset, 0)
    os.close(ruleset)


def _call(number, *arguments):
    got = _syscall(ctypes.c_long(number), *(ctypes.c_long(each) if isinstance(each, int) else each for each in arguments))
    if got < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return got
