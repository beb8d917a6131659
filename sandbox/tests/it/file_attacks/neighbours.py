# Other calls: their directories, their descriptors, and ways to talk to them. Tests with two calls are in files_neighbours.rs.
import ctypes, fcntl, os, posix, sys, tempfile
import pydantic
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long

def attempt(action, *arguments, **options):
    try:
        print("ESCAPED", action(*arguments, **options))
    except (OSError, NotImplementedError):
        print("blocked")

def attempt_raw(*arguments):
    got = libc.syscall(*[ctypes.c_long(each) if isinstance(each, int) else each for each in arguments])
    print("ESCAPED " + str(got) if got != -1 else "blocked")

#: watch_directories -> ok prints=blocked
attempt_raw(SYS_inotify_init1, 0)

#: watch_file_systems -> ok prints=blocked
attempt_raw(SYS_fanotify_init, 0, 0)

#: watch_by_signal -> ok prints=blocked
here = os.open(".", os.O_RDONLY)
attempt(fcntl.fcntl, here, fcntl.F_NOTIFY, fcntl.DN_CREATE)

#: lease -> ok prints=blocked changed=/own
file = os.open("own", os.O_CREAT | os.O_RDONLY)
attempt(fcntl.fcntl, file, fcntl.F_SETLEASE, fcntl.F_WRLCK)

#: owner_of_signals -> ok prints=blocked
attempt(fcntl.fcntl, 1, fcntl.F_SETOWN, 1)

#: size_of_a_pipe -> ok prints=blocked
attempt(fcntl.fcntl, 1, 1031, 1 << 20)

#: seals -> ok prints=blocked
attempt(fcntl.fcntl, 1, 1034)

#: write_hint -> ok prints=blocked
attempt(fcntl.fcntl, 1, 1036, bytes(8))

#: lock_that_others_would_see -> ok prints=fine
# A lock on a file of Python's own would let two calls talk to each other: it is only pretended.
file = os.open(pydantic.__file__, os.O_RDONLY)
fcntl.flock(file, fcntl.LOCK_EX)
fcntl.flock(os.open(pydantic.__file__, os.O_RDONLY), fcntl.LOCK_EX | fcntl.LOCK_NB)
print("fine")

#: advice_about_shared_files -> ok prints=fine
os.posix_fadvise(os.open(pydantic.__file__, os.O_RDONLY), 0, 0, os.POSIX_FADV_DONTNEED)
print("fine")

#: attributes_of_shared_files -> ok prints=blocked
attempt(os.setxattr, pydantic.__file__, "user.x", b"told")

#: attributes_of_own_files -> ok prints=blocked changed=/own
open("own", "w").close()
attempt(os.setxattr, "own", "user.x", b"told")

#: attributes_by_descriptor -> ok prints=blocked changed=/own
attempt(os.getxattr, os.open("own", os.O_CREAT | os.O_RDWR), "security.capability")

#: shared_memory_by_name -> ok prints=blocked
from multiprocessing import shared_memory
attempt(shared_memory.SharedMemory, name="pegboard", create=True, size=4096)

#: semaphore_by_name -> ok prints=blocked
import _multiprocessing
attempt(_multiprocessing.SemLock, 1, 1, 1, "/pegboard", False)

#: message_queue -> ok prints=blocked
print("ESCAPED" if ctypes.CDLL(None, use_errno=True).mq_open(b"/pegboard", os.O_CREAT | os.O_RDWR, 0o600, None) != -1 else "blocked")

#: names_are_not_guessed -> ok prints=[]
# The names of folders are 32 random digits; the parts of all folders have the same names.
places = ["../../" + name for name in ("0", "1", "slot", "a", "files", "tmp", "0" * 32, "f" * 32)]
print([place for place in places if os.path.exists(place)])

#: own_names_are_random -> ok prints=True
import re
folder = os.path.basename(os.path.dirname(os.getcwd()))
print(bool(re.fullmatch("[0-9a-f]{32}", folder)))

#: siblings_by_proc -> ok prints=blocked
# Without a private root processes can be seen to exist, but nothing of them can be read.
found = []
for process in range(max(2, os.getpid() - 50), os.getpid() + 50):
    if process != os.getpid():
        for name in ("cwd", "root", "fd/1", "exe"):
            try:
                found.append(os.readlink(f"/proc/{process}/{name}"))
            except OSError:
                pass
print("ESCAPED" if found else "blocked")

#: memory_of_siblings -> ok prints=blocked
for process in range(max(2, os.getpid() - 20), os.getpid() + 20):
    if process != os.getpid() and libc.syscall(ctypes.c_long(SYS_process_vm_readv), process, bytes(16), 1, bytes(16), 1, 0) >= 0:
        print("ESCAPED")
print("blocked")

#: nothing_of_earlier_calls -> ok prints=[][]
print(os.listdir("."), os.listdir(tempfile.gettempdir()), sep="")
