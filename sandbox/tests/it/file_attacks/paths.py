# Paths and descriptors that lead out of the directory.
import ctypes, glob, os, pathlib, posix, shutil, tempfile
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

#: dots_open_read -> ok prints=blocked
attempt(open, "../../../../../../../../etc/passwd")

#: dots_open_write -> ok prints=blocked
attempt(open, "../escaped", "w")

#: dots_open_in_the_slot -> ok prints=blocked
attempt(open, "../../escaped", "w")

#: dots_open_in_all_slots -> ok prints=blocked
attempt(open, "../../../escaped", "w")

#: dots_open_through_own_directory -> ok prints=blocked
os.mkdir("a")
attempt(open, "a/../../../escaped", "w")

#: dots_open_through_missing_directory -> ok prints=blocked
attempt(open, "nowhere/../../escaped", "w")

#: dots_make_directory -> ok prints=blocked
attempt(os.mkdir, "../escaped")

#: dots_make_directory_in_the_slot -> ok prints=blocked
attempt(os.mkdir, "../../escaped")

#: dots_rename_out -> ok prints=blocked changed=/own
open("own", "w").close()
attempt(os.rename, "own", "../escaped")

#: dots_rename_out_of_the_folder -> ok prints=blocked changed=/own
open("own", "w").close()
attempt(os.rename, "own", "../../escaped")

#: dots_rename_directory_out -> ok prints=blocked
os.mkdir("d")
attempt(os.rename, "d", "../../escaped")

#: dots_rename_own_directory -> ok prints=blocked
attempt(os.rename, "../files", "../elsewhere")

#: dots_rename_own_folder -> ok prints=blocked
folder = os.path.basename(os.path.dirname(os.getcwd()))
attempt(os.rename, "../../" + folder, "../../elsewhere")

#: dots_exchange_bundle_and_files -> ok prints=blocked
attempt(os.rename, "../bundle", "../other")

#: dots_replace -> ok prints=blocked changed=/own
open("own", "w").close()
attempt(os.replace, "own", "../bundle/own")

#: dots_truncate -> ok prints=blocked
attempt(os.truncate, "../../../../../../../../etc/hostname", 0)

#: dots_unlink -> ok prints=blocked
attempt(os.unlink, "../../../../../../../../etc/hostname")

#: dots_remove_own_directory -> ok prints=blocked
attempt(os.rmdir, "../files")

#: dots_remove_temporary_directory -> ok prints=blocked
attempt(os.rmdir, "../tmp")

#: dots_remove_bundle -> ok prints=blocked
attempt(os.rmdir, "../bundle")

#: dots_remove_folder -> ok prints=blocked
attempt(shutil.rmtree, "..")

#: dots_list_the_slot -> ok prints=blocked
attempt(os.listdir, "../..")

#: dots_list_all_slots -> ok prints=blocked
attempt(os.listdir, "../../..")

#: dots_scan_the_slot -> ok prints=blocked
attempt(os.scandir, "../..")

#: dots_walk_finds_nobody -> ok prints=[]
print([found for found, *_ in os.walk("../..") if found != "../.."])

#: dots_glob_finds_nobody -> ok prints=[]
print(glob.glob("../../*"))

#: dots_by_pathlib -> ok prints=blocked
attempt(pathlib.Path("x/../../..").resolve().joinpath("escaped").write_text, "x")

#: dots_make_temporary_file -> ok prints=blocked
attempt(tempfile.mkstemp, dir="../..")

#: change_directory_and_write -> ok prints=blocked
os.chdir("../..")
attempt(open, "escaped", "w")

#: change_directory_and_list -> ok prints=blocked
os.chdir("../..")
attempt(os.listdir, ".")

#: change_to_parent_of_all_and_write -> ok prints=blocked
os.chdir("../../..")
attempt(open, "escaped", "w")

#: change_to_root_and_write -> ok prints=blocked
os.chdir("/")
attempt(open, "escaped", "w")

#: change_to_root_and_read -> ok prints=blocked
os.chdir("/")
attempt(open, "etc/passwd")

#: change_directory_by_descriptor -> ok prints=blocked
os.fchdir(os.open(".", os.O_RDONLY))
os.chdir("..")
attempt(open, "escaped", "w")

#: change_root_to_own_directory -> ok prints=blocked
attempt(os.chroot, ".")

#: removed_working_directory -> ok prints=blocked
os.mkdir("gone")
os.chdir("gone")
os.rmdir("../gone")
attempt(open, "../../escaped", "w")

#: moved_working_directory -> ok prints=blocked
# A path with dots is taken from where the directory is now.
os.makedirs("a/b/c/d/e")
os.chdir("a/b/c/d/e")
os.rename("../../../../../a/b/c/d/e", "../../../../../e")
attempt(open, "../../../../escaped", "w")

#: descriptor_of_the_parent -> ok prints=blocked
attempt(os.open, "../..", os.O_RDONLY)

#: descriptor_of_the_root -> ok prints=blocked
attempt(lambda: os.listdir(os.open("/", os.O_RDONLY))) if LANDLOCK else print("blocked")

#: descriptor_for_a_path_alone -> ok prints=blocked
attempt(os.open, "..", os.O_PATH)

#: descriptor_for_a_path_alone_of_own_file -> ok prints=blocked changed=/own
open("own", "w").close()
attempt(os.open, "own", os.O_PATH)

#: descriptor_for_a_path_alone_raw -> ok prints=blocked
attempt_raw(SYS_openat, -100, b"..", 0o10000000 | 0o200000, 0)

#: descriptor_for_a_path_alone_with_high_bits -> ok prints=blocked
attempt_raw(SYS_openat, -100, b"..", 0o10000000 | 1 << 40, 0)

#: open_with_rules -> ok prints=blocked
attempt_raw(SYS_openat2, -100, b".", bytes(24), 24)

#: open_relative_to_a_descriptor -> ok prints=blocked
here = os.open(".", os.O_RDONLY)
attempt(os.open, "../../escaped", os.O_CREAT | os.O_WRONLY, dir_fd=here)

#: make_directory_relative_to_a_descriptor -> ok prints=blocked
here = os.open(".", os.O_RDONLY)
attempt(os.mkdir, "../escaped", dir_fd=here)

#: rename_relative_to_descriptors -> ok prints=blocked changed=/own
open("own", "w").close()
here = os.open(".", os.O_RDONLY)
attempt(os.rename, "own", "../escaped", src_dir_fd=here, dst_dir_fd=here)

#: unlink_relative_to_a_descriptor -> ok prints=blocked
here = os.open(".", os.O_RDONLY)
attempt(os.unlink, "../bundle/b.txt", dir_fd=here)
#> bundle/b.txt
text

#: relative_to_a_pipe -> ok prints=blocked
attempt(os.open, "x", os.O_CREAT | os.O_WRONLY, dir_fd=1)

#: relative_to_nothing -> ok prints=blocked
attempt(os.open, "x", os.O_CREAT | os.O_WRONLY, dir_fd=200)

#: temporary_file_elsewhere -> ok prints=blocked
attempt(os.open, "../..", os.O_TMPFILE | os.O_RDWR)

#: temporary_file_in_the_bundle -> ok prints=blocked
attempt(os.open, "../bundle", os.O_TMPFILE | os.O_RDWR)

#: temporary_file_here_is_not_kept -> ok prints=fine
file = os.open(".", os.O_TMPFILE | os.O_RDWR, 0o600)
os.write(file, b"x")
print("fine")

#: descriptors_by_proc -> ok prints=blocked
# Without a private root, a call can open its own pipes again, and nobody else's.
attempt(os.open, "/proc/self/fd/1", os.O_WRONLY) if PRIVATE_ROOT else print("blocked")

#: own_pipes_read_by_proc -> ok|killed|exception
# What a call reads from its own output is lost to itself alone.
for each in (1, 2, 3):
    try:
        os.set_blocking(file := os.open(f"/proc/self/fd/{each}", os.O_RDWR), False)
        os.write(each, b"x" * 10)
        os.read(file, 5)
    except OSError:
        pass

#: descriptors_of_others_by_proc -> ok prints=blocked
for process in ("ZYGOTE_PID", "SUPERVISOR_PID", "1"):
    for each in range(20):
        try:
            print("ESCAPED", os.open(f"/proc/{process}/fd/{each}", os.O_RDWR))
        except OSError:
            pass
print("blocked")

#: working_directory_by_proc -> ok prints=blocked
attempt(os.listdir, "/proc/self/cwd/../..")

#: root_by_proc -> ok prints=blocked
attempt(os.listdir, "/proc/self/root/etc")

#: handle_of_a_file -> ok prints=blocked
attempt_raw(SYS_name_to_handle_at, -100, b".", bytes(128), bytes(8), 0)

#: file_of_a_handle -> ok prints=blocked
attempt_raw(SYS_open_by_handle_at, 1, b"\x08\0\0\0\x01\0\0\0" + bytes(120), 0)

#: stat_of_a_descriptor_alone -> ok prints=0
# AT_EMPTY_PATH: it shows the pipe, and opens nothing.
print(libc.syscall(ctypes.c_long(SYS_statx), 1, b"", 0x1000, 0xFFF, ctypes.create_string_buffer(256)))

#: long_way_up -> ok prints=blocked
attempt(open, "../" * 1300 + "etc/passwd")

#: longer_than_any_path -> ok prints=blocked
attempt(open, "../" * 4000 + "etc/passwd")

#: repeated_slashes -> ok prints=blocked
attempt(open, "..//..//.//..//escaped", "w")

#: absolute_path_of_own_directory -> ok prints=fine changed=/own
with open(os.path.join(os.getcwd(), "own"), "w") as file:
    file.write("x")
print("fine")
