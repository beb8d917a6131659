# The rest of the machine: its files, its devices, the server's own, and those of Python.
import ctypes, os, pathlib, posix, shutil, sys
import pydantic

def attempt(action, *arguments, **options):
    try:
        print("ESCAPED", action(*arguments, **options))
    except (OSError, NotImplementedError):
        print("blocked")

def attempt_all(action, paths, *arguments):
    got = []
    for path in paths:
        try:
            action(path, *arguments)
            got.append(path)
        except OSError:
            pass
    print("ESCAPED " + str(got) if got else "blocked")

#: read_system_files -> ok prints=blocked
attempt_all(open, ["/etc/passwd", "/etc/shadow", "/etc/hostname", "/etc/hosts", "/etc/resolv.conf", "/etc/machine-id"])

#: read_devices -> ok prints=blocked
attempt_all(open, ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/mem", "/dev/kmsg", "/dev/fuse"])

#: write_devices -> ok prints=blocked
attempt_all(open, ["/dev/null", "/dev/tty", "/dev/ptmx", "/dev/vda", "/dev/kvm"], "r+b", 0)

#: read_proc -> ok prints=blocked
names = ("self/status", "self/maps", "self/mem", "self/environ", "self/cmdline", "self/mountinfo", "self/auxv", "meminfo")
attempt_all(open, ["/proc/" + name for name in (*names, "version", "cpuinfo", "mounts", "kallsyms", "net/tcp", "net/unix")])

#: write_proc -> ok prints=blocked
names = ("self/mem", "self/oom_score_adj", "self/comm", "self/attr/current", "self/uid_map", "sys/kernel/core_pattern")
attempt_all(open, ["/proc/" + name for name in (*names, "sysrq-trigger", "sys/kernel/hostname")], "r+b", 0)

#: list_proc -> ok prints=blocked
attempt_all(os.listdir, ["/proc", "/proc/self", "/proc/self/fd", "/proc/self/task", "/proc/self/root", "/proc/1"])

#: list_proc_of_the_zygote -> ok prints=blocked
attempt_all(os.listdir, ["/proc/ZYGOTE_PID/" + name for name in ("fd", "cwd", "root", "map_files", "task", "ns")])

#: read_proc_of_the_zygote -> ok prints=blocked
attempt_all(open, ["/proc/ZYGOTE_PID/" + name for name in ("mem", "maps", "environ", "cmdline", "status", "stack", "fd/0")])

#: read_proc_of_the_supervisor -> ok prints=blocked
attempt_all(open, ["/proc/SUPERVISOR_PID/" + name for name in ("mem", "maps", "environ", "cmdline", "status", "fd/0", "fd/5")])

#: links_of_the_zygote -> ok prints=blocked
attempt_all(os.readlink, ["/proc/ZYGOTE_PID/" + name for name in ("cwd", "root", "exe", "fd/0", "ns/net")])

#: links_of_the_supervisor -> ok prints=blocked
attempt_all(os.readlink, ["/proc/SUPERVISOR_PID/" + name for name in ("cwd", "root", "exe", "fd/0", "fd/9", "ns/net")])

#: read_sys -> ok prints=blocked
attempt_all(open, ["/sys/kernel/vmcoreinfo", "/sys/fs/cgroup/cgroup.procs", "/sys/devices/system/cpu/online"])

#: list_sys -> ok prints=blocked
attempt_all(os.listdir, ["/sys", "/sys/fs/cgroup", "/sys/kernel", "/sys/class/net", "/dev", "/dev/shm", "/run", "/var", "/root"])

#: list_homes -> ok prints=blocked
attempt_all(os.listdir, ["/home", "/root", "/opt", "/srv", "/mnt", "/media", "/boot", "/var/lib", "/var/log"])

#: write_everywhere -> ok prints=blocked
places = ("/", "/tmp", "/var/tmp", "/dev/shm", "/run", "/run/lock", "/etc", "/usr", "/usr/lib", "/lib", "/root", "/home", "/work")
attempt_all(open, [place + "/pegboard-sandbox-escaped" for place in places], "w")

#: make_directories_everywhere -> ok prints=blocked
places = ("/", "/tmp", "/var/tmp", "/dev/shm", "/run", "/run/lock", "/etc", "/usr", "/work")
attempt_all(os.mkdir, [place + "/pegboard-sandbox-escaped" for place in places])

#: temporary_files_everywhere -> ok prints=blocked
attempt_all(os.open, ["/", "/tmp", "/var/tmp", "/dev/shm", "/run", "/work", "/usr/lib"], os.O_TMPFILE | os.O_RDWR)

#: read_the_program_of_the_server -> ok prints=blocked
attempt_all(open, ["/usr/local/bin/pegboard-sandbox", "/proc/SUPERVISOR_PID/exe", "/pegboard-sandbox"], "rb")

#: secret_of_the_supervisor -> ok prints=blocked
ctypes.pythonapi.Py_DecodeLocale  # It works without files.
getenv = ctypes.CDLL(None).getenv
getenv.restype = ctypes.c_char_p
print("ESCAPED" if getenv(b"PEGBOARD_SECRET") or os.environ.get("PEGBOARD_SECRET") else "blocked")

#: environment_of_a_call -> ok prints=['HOME','PYDANTIC_DISABLE_PLUGINS','TMPDIR']
print(str(sorted(os.environ)).replace(" ", ""))

#: arguments_of_the_zygote -> ok prints=['-c'][]
print(sys.argv, sys.orig_argv, sep="")

#: write_packages -> ok prints=blocked
attempt(open, pydantic.__file__, "a")

#: write_beside_packages -> ok prints=blocked
attempt(open, os.path.join(os.path.dirname(pydantic.__file__), "escaped.py"), "w")

#: truncate_packages -> ok prints=blocked
attempt(os.truncate, pydantic.__file__, 0)

#: remove_packages -> ok prints=blocked
attempt(os.unlink, pydantic.__file__)

#: rename_packages -> ok prints=blocked
attempt(os.rename, os.path.dirname(pydantic.__file__), "pydantic")

#: map_packages_writable -> ok prints=blocked
import mmap
file = os.open(pydantic.__file__, os.O_RDONLY)
attempt(mmap.mmap, file, 0, mmap.MAP_SHARED, mmap.PROT_WRITE)

#: packages_by_truncating_open -> ok prints=blocked
attempt(os.open, pydantic.__file__, os.O_RDONLY | os.O_TRUNC)

#: read_packages -> ok prints=True
print(len(open(pydantic.__file__).read()) > 100)

#: write_standard_library -> ok prints=blocked
attempt(open, os.__file__, "a")

#: write_beside_standard_library -> ok prints=blocked
attempt(open, os.path.join(os.path.dirname(os.__file__), "escaped.py"), "w")

#: cache_beside_standard_library -> ok prints=blocked
import py_compile
attempt(py_compile.compile, os.__file__, doraise=True)

#: import_writes_no_bytecode -> ok prints=True
import wave
print(sys.dont_write_bytecode)

#: write_interpreter -> ok prints=blocked
attempt(open, sys.executable or "/usr/bin/python3", "r+b")

#: write_libraries -> ok prints=blocked
attempt_all(open, ["/usr/lib/x86_64-linux-gnu/libc.so.6", "/lib64/ld-linux-x86-64.so.2", "/etc/ld.so.cache"], "r+b")

#: metadata_of_outside -> ok prints=blocked
# Landlock does not hide metadata. A private root has none of these.
attempt_all(os.stat, ["/etc/passwd", "/root", "/proc/1", "/dev/null"]) if PRIVATE_ROOT else print("blocked")

#: move_outside_file_here -> ok prints=blocked
attempt(shutil.move, "/etc/hostname", "here")

#: copy_outside_file_here -> ok prints=blocked
attempt(shutil.copy2, "/etc/passwd", "here")

#: copy_outside_file_in_the_kernel -> ok prints=blocked
attempt(lambda: os.copy_file_range(os.open("/etc/passwd", os.O_RDONLY), os.open("x", os.O_CREAT | os.O_WRONLY), 10))
