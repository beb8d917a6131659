# Things that are neither files nor directories, and renames that leave some.
import ctypes, os, posix, socket, stat, tarfile
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
tarfile.TarFile.extraction_filter = staticmethod(lambda member, path: member)

def attempt(action, *arguments, **options):
    try:
        print("ESCAPED", action(*arguments, **options))
    except (OSError, NotImplementedError):
        print("blocked")

def attempt_raw(*arguments):
    got = libc.syscall(*[ctypes.c_long(each) if isinstance(each, int) else each for each in arguments])
    print("ESCAPED " + str(got) if got != -1 else "blocked")

#: fifo -> ok prints=blocked
attempt(os.mkfifo, "fifo")

#: fifo_by_directory_descriptor -> ok prints=blocked
attempt(os.mkfifo, "fifo", dir_fd=os.open(".", os.O_RDONLY))

#: fifo_raw -> ok prints=blocked
attempt_raw(SYS_mknodat, -100, b"fifo", stat.S_IFIFO | 0o600, 0)

#: fifo_by_tar -> ok prints=blocked changed=/t.tar
with tarfile.open("t.tar", "w") as archive:
    member = tarfile.TarInfo("fifo")
    member.type = tarfile.FIFOTYPE
    archive.addfile(member)
with tarfile.open("t.tar") as archive:
    try:
        archive.extractall()
    except OSError:
        pass
print("ESCAPED" if os.path.exists("fifo") else "blocked")

#: device -> ok prints=blocked
attempt(os.mknod, "device", stat.S_IFCHR | 0o666, os.makedev(1, 3))

#: block_device -> ok prints=blocked
attempt(os.mknod, "device", stat.S_IFBLK | 0o666, os.makedev(254, 0))

#: regular_file_as_a_node -> ok prints=blocked
attempt(os.mknod, "node", stat.S_IFREG | 0o666)

#: socket_file -> ok prints=blocked
attempt(os.mknod, "socket", stat.S_IFSOCK | 0o666)

#: socket_bound_to_a_path -> ok prints=blocked
attempt(lambda: socket.socket(socket.AF_UNIX).bind("socket"))

#: whiteout -> ok prints=blocked changed=/a
open("a", "w").close()
attempt_raw(SYS_renameat2, -100, b"a", -100, b"b", 4)

#: exchange -> ok prints=blocked changed=/a,/b
open("a", "w").close()
open("b", "w").close()
attempt_raw(SYS_renameat2, -100, b"a", -100, b"b", 2)

#: exchange_with_high_bits -> ok prints=blocked changed=/a,/b
open("a", "w").close()
open("b", "w").close()
attempt_raw(SYS_renameat2, -100, b"a", -100, b"b", 2 | 1 << 40)

#: exchange_of_file_and_directory -> ok prints=blocked changed=/a
open("a", "w").close()
os.mkdir("b")
attempt_raw(SYS_renameat2, -100, b"a", -100, b"b", 2)

#: rename_without_replacing -> ok prints=-117 changed=/a,/b
open("a", "w").close()
open("b", "w").close()
got = libc.syscall(*map(ctypes.c_long, (SYS_renameat2, -100)), b"a", ctypes.c_long(-100), b"b", ctypes.c_long(1))
print(got, ctypes.get_errno(), sep="")

#: mount_over_own_directory -> ok prints=blocked
attempt_raw(SYS_mount, b"none", b".", b"tmpfs", 0, 0)

#: bind_mount -> ok prints=blocked
attempt_raw(SYS_mount, b"/", b".", 0, 4096, 0)

#: unmount_own_slot -> ok prints=blocked
attempt_raw(SYS_umount2, os.getcwd().encode(), 2)

#: unmount_parents -> ok prints=blocked
attempt_raw(SYS_umount2, b"../..", 2)

#: new_mount_calls -> ok prints=blocked
for number in (SYS_open_tree, SYS_move_mount, SYS_fsopen, SYS_mount_setattr, SYS_pivot_root):
    got = libc.syscall(ctypes.c_long(number), -100, b".", 1, bytes(32), 32)
    if got != -1:
        print("ESCAPED", number)
print("blocked")

#: swap_file -> ok prints=blocked changed=/swap
open("swap", "wb").write(bytes(4096))
attempt_raw(SYS_swapon, b"swap", 0)

#: quota -> ok prints=blocked
attempt_raw(SYS_quotactl, 0x800007, b"/dev/vda", 0, bytes(64))

#: ioctl_on_own_file -> ok prints=blocked changed=/a
# FS_IOC_SETFLAGS: a file that nobody could delete any more.
import fcntl
attempt(fcntl.ioctl, os.open("a", os.O_CREAT | os.O_RDWR), 0x40086602, b"\x10" + bytes(7))

#: ioctl_clone -> ok prints=blocked changed=/a,/b
import fcntl
one, other = (os.open(name, os.O_CREAT | os.O_RDWR) for name in ("a", "b"))
attempt(fcntl.ioctl, one, 0x40049409, other)

#: ioctl_on_a_directory -> ok prints=blocked
import fcntl
attempt(fcntl.ioctl, os.open(".", os.O_RDONLY), 0x80086601, bytes(8))

#: ioctl_that_types_into_terminals -> ok prints=blocked
import fcntl
attempt(fcntl.ioctl, 1, 0x5412, b"x")

#: pipes -> ok prints=blocked
attempt(os.pipe)

#: memory_file_as_a_file -> ok prints=blocked
attempt(os.memfd_create, "x")

#: splice_to_a_file -> ok prints=blocked changed=/a
attempt(os.splice, 1, os.open("a", os.O_CREAT | os.O_RDWR), 10)

#: pages_given_to_a_pipe -> ok prints=blocked
attempt_raw(SYS_vmsplice, 1, bytes(16), 1, 0)

#: asynchronous_io -> ok prints=blocked
attempt_raw(SYS_io_setup, 8, ctypes.create_string_buffer(8))
