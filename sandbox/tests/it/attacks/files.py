# Files: reading them, writing them, and finding out whether they exist.
import json, re, typing
sys = typing.sys
posix, os, io, ctypes = (sys.modules[each] for each in ("posix", "os", "io", "ctypes"))
libc = ctypes.CDLL(None, use_errno=True)

def attempt(action, *arguments, **options):
    try:
        print("ESCAPED", action(*arguments, **options))
    except (OSError, RuntimeError, SyntaxError, KeyError, ImportError):
        print("blocked")

def attempt_native(function, *arguments):
    got = getattr(libc, function)(*arguments)
    print("ESCAPED " + str(got) if got != -1 else "blocked")

#: open_builtin -> exception
open("/etc/passwd")

#: open_real_builtin -> ok prints=blocked
attempt(sys.modules["builtins"].open, "/etc/passwd")

#: open_io -> ok prints=blocked
attempt(io.open, "/etc/passwd")

#: open_file_io -> ok prints=blocked
attempt(io.FileIO, "/etc/passwd")

#: open_code -> ok prints=blocked
attempt(io.open_code, "/etc/passwd")

#: open_posix -> ok prints=blocked
attempt(posix.open, "/etc/passwd", posix.O_RDONLY)

#: open_path_only -> ok prints=blocked
attempt(posix.open, "/", posix.O_PATH)

#: open_directory -> ok prints=blocked
attempt(posix.open, "/", posix.O_DIRECTORY)

#: open_raw -> ok prints=blocked
attempt_native("syscall", SYS_openat, -100, b"/etc/passwd", 0, 0)

#: open_libc -> ok prints=blocked
libc.fopen.restype = ctypes.c_void_p
print("ESCAPED" if libc.fopen(b"/etc/passwd", b"r") else "blocked")

#: open_for_writing -> ok prints=blocked
attempt(posix.open, "/tmp/pegboard-sandbox-escaped", posix.O_CREAT | posix.O_WRONLY)

#: open_temporary -> ok prints=blocked
attempt(posix.open, "/tmp", posix.O_TMPFILE | posix.O_RDWR)

#: open_own_memory -> ok prints=blocked
attempt(posix.open, "/proc/self/mem", posix.O_RDWR)

#: open_environment_of_the_supervisor -> ok prints=blocked
attempt(posix.open, "/proc/SUPERVISOR_PID/environ", posix.O_RDONLY)

#: open_memory_of_the_supervisor -> ok prints=blocked
attempt(posix.open, "/proc/SUPERVISOR_PID/mem", posix.O_RDWR)

#: open_descriptors_of_the_supervisor -> ok prints=blocked
attempt(posix.listdir, "/proc/SUPERVISOR_PID/fd")

#: open_arguments_of_the_supervisor -> ok prints=blocked
attempt(posix.open, "/proc/SUPERVISOR_PID/cmdline", posix.O_RDONLY)

#: open_memory_of_the_zygote -> ok prints=blocked
attempt(posix.open, "/proc/ZYGOTE_PID/mem", posix.O_RDWR)

#: open_maps_of_the_zygote -> ok prints=blocked
attempt(posix.open, "/proc/ZYGOTE_PID/maps", posix.O_RDONLY)

#: open_socket_of_the_zygote -> ok prints=blocked
attempt(posix.open, "/proc/ZYGOTE_PID/fd/0", posix.O_RDWR)

#: open_root_of_the_zygote -> ok prints=blocked
attempt(posix.listdir, "/proc/ZYGOTE_PID/root")

#: open_process_list -> ok prints=blocked
attempt(posix.listdir, "/proc")

#: open_descriptors -> ok prints=blocked
attempt(posix.listdir, "/proc/self/fd")

#: open_own_maps -> ok prints=blocked
attempt(io.open, "/proc/self/maps")

#: open_terminal -> ok prints=blocked
attempt(posix.open, "/dev/tty", posix.O_RDWR)

#: open_shared_memory -> ok prints=blocked
attempt(posix.open, "/dev/shm/pegboard-sandbox-escaped", posix.O_CREAT | posix.O_RDWR)

#: open_random -> ok prints=blocked
attempt(posix.open, "/dev/urandom", posix.O_RDONLY)

#: environment -> ok prints={}
print(dict(os.environ))

#: environment_native -> ok prints=blocked
libc.getenv.restype = ctypes.c_char_p
print("ESCAPED" if libc.getenv(b"PEGBOARD_SECRET") or libc.getenv(b"PATH") else "blocked")

#: memory_file -> ok prints=blocked
attempt_native("syscall", SYS_memfd_create, b"x", 0)

#: stat -> ok prints=blocked
attempt(posix.stat, "/etc/shadow")

#: exists -> ok prints=False
print(os.path.exists("/etc/passwd"))

#: access -> ok prints=False
print(posix.access("/etc/passwd", posix.R_OK))

#: list_directory -> ok prints=blocked
attempt(posix.listdir, "/")

#: scan_directory -> ok prints=blocked
attempt(posix.scandir, "/")

#: working_directory -> ok prints=blocked
attempt(posix.getcwd)

#: change_directory -> ok prints=blocked
attempt(posix.chdir, "/tmp")

#: change_root -> ok prints=blocked
attempt(posix.chroot, "/tmp")

#: read_link -> ok prints=blocked
attempt(posix.readlink, "/proc/self/exe")

#: make_directory -> ok prints=blocked
attempt(posix.mkdir, "/tmp/pegboard-sandbox-escaped")

#: make_pipe_file -> ok prints=blocked
attempt(posix.mkfifo, "/tmp/pegboard-sandbox-escaped")

#: make_device -> ok prints=blocked
attempt(posix.mknod, "/tmp/pegboard-sandbox-escaped")

#: make_links -> ok prints=blocked
attempt(posix.symlink, "/etc/passwd", "/tmp/pegboard-sandbox-escaped")

#: hard_link -> ok prints=blocked
attempt(posix.link, "/etc/passwd", "/tmp/pegboard-sandbox-escaped")

#: remove -> ok prints=blocked
attempt(posix.unlink, "/etc/hostname")

#: rename -> ok prints=blocked
attempt(posix.rename, "/etc/hostname", "/etc/hostname2")

#: change_mode -> ok prints=blocked
attempt(posix.chmod, "/tmp", 0o777)

#: change_mode_of_a_pipe -> ok prints=blocked
attempt(posix.fchmod, 1, 0o777)

#: change_owner -> ok prints=blocked
attempt(posix.chown, "/tmp", 0, 0)

#: truncate -> ok prints=blocked
attempt(posix.truncate, "/etc/hostname", 0)

#: set_times -> ok prints=blocked
attempt(posix.utime, "/tmp")

#: attributes -> ok prints=blocked
attempt(posix.listxattr, "/")

#: file_system_size -> ok prints=blocked
attempt(posix.statvfs, "/")

#: mount -> ok prints=blocked
attempt_native("syscall", SYS_mount, b"none", b"/tmp", b"tmpfs", 0, 0)

#: send_file -> ok prints=blocked
attempt(posix.sendfile, 1, 2, 0, 10)

#: splice -> ok prints=blocked
attempt(posix.splice, 1, 2, 10)

#: duplicate -> ok prints=blocked
attempt(posix.dup, 1)

#: new_pipe -> ok prints=blocked
attempt(posix.pipe)

#: terminal_control -> ok prints=False
print(posix.isatty(1))

#: event_descriptor -> ok prints=blocked
attempt(posix.eventfd, 0)

#: line_cache -> ok prints=[]
print(sys.modules["linecache"].getlines("/etc/passwd"))

#: file_by_traceback -> exception
code = compile("1/0", "/etc/passwd", "exec")
exec(code)

#: file_by_warning -> ok prints=
sys.modules["warnings"].showwarning("x", UserWarning, "/etc/passwd", 1)

#: file_by_tokenize -> ok prints=blocked
attempt(sys.modules["tokenize"].open, "/etc/passwd")

#: load_library -> ok prints=blocked
attempt(ctypes.CDLL, "/usr/lib/x86_64-linux-gnu/libm.so.6")
