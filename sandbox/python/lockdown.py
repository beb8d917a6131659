"""The protection that both rooms share: limits, and the seccomp filters. After `enter`, a process can use only the system
calls that its filters allow, even if an attacker controls Python."""

import ctypes
import os
import resource

PR_SET_PDEATHSIG = 1
PR_SET_DUMPABLE = 4
PR_SET_SECCOMP = 22
SECCOMP_MODE_FILTER = 2
SIGKILL = 9

_prctl = ctypes.CDLL(None, use_errno=True).prctl
_prctl.argtypes = (ctypes.c_int, ctypes.c_ulong, ctypes.c_void_p, ctypes.c_ulong, ctypes.c_ulong)


class _Program(ctypes.Structure):
    """struct sock_fprog"""

    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))


def program(instructions):
    """A seccomp filter in the kernel's format, made of its instructions of 8 bytes each."""
    return _Program(len(instructions) // 8, instructions)


def die_with_parent():
    _call(PR_SET_PDEATHSIG, SIGKILL, None)


def hide():
    """No core dumps, which the system may pass to a program, and no inspection by other processes of the same user."""
    _call(PR_SET_DUMPABLE, 0, None)


def enter(filters, address_space, cpu_seconds, descriptors=8, file_bytes=0):
    """Every failure is raised, because no code may run without the protection.

    The kernel takes the strictest verdict of all filters. The last filter forbids the installation of filters.
    """
    _limit(resource.RLIMIT_AS, address_space)
    # The supervisor enforces the timeout. If it cannot, this limit sends a signal, and then one that cannot be blocked.
    resource.setrlimit(resource.RLIMIT_CPU, (cpu_seconds, cpu_seconds + 1))
    _limit(resource.RLIMIT_NOFILE, descriptors)
    _limit(resource.RLIMIT_FSIZE, file_bytes)
    for nothing in (
        resource.RLIMIT_CORE,
        resource.RLIMIT_MEMLOCK,
        resource.RLIMIT_MSGQUEUE,
        resource.RLIMIT_NPROC,
        resource.RLIMIT_SIGPENDING,
    ):
        _limit(nothing, 0)
    for each in filters:
        _call(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.addressof(each))


def _limit(which, value):
    resource.setrlimit(which, (value, value))


def _call(option, argument, pointer):
    if _prctl(option, argument, pointer, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
