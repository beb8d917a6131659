# Links, which the supervisor would follow when it reads the files: every way to make one.
import ctypes, os, pathlib, posix, shutil, tarfile, tempfile
libc = ctypes.CDLL(None, use_errno=True)

def attempt(action, *arguments, **options):
    try:
        print("ESCAPED", action(*arguments, **options))
    except (OSError, NotImplementedError):
        print("blocked")

def attempt_native(function, *arguments):
    got = getattr(libc, function)(*arguments)
    print("ESCAPED " + str(got) if got != -1 else "blocked")

# Every member of an archive is extracted, whatever the version of Python thinks of it.
tarfile.TarFile.extraction_filter = staticmethod(lambda member, path: member)
open("own", "w").close()

#: symlink -> ok prints=blocked changed=/own
attempt(os.symlink, "/etc/passwd", "link")

#: symlink_to_own_file -> ok prints=blocked changed=/own
attempt(os.symlink, "own", "link")

#: symlink_to_parent -> ok prints=blocked changed=/own
attempt(os.symlink, "..", "link", target_is_directory=True)

#: symlink_dangling -> ok prints=blocked changed=/own
attempt(os.symlink, "nowhere", "link")

#: symlink_to_itself -> ok prints=blocked changed=/own
attempt(os.symlink, "link", "link")

#: symlink_in_temporary_directory -> ok prints=blocked changed=/own
attempt(os.symlink, "/etc/passwd", os.path.join(tempfile.gettempdir(), "link"))

#: symlink_by_directory_descriptor -> ok prints=blocked changed=/own
here = os.open(".", os.O_RDONLY)
attempt(os.symlink, "/etc/passwd", "link", dir_fd=here)

#: symlink_by_pathlib -> ok prints=blocked changed=/own
attempt(pathlib.Path("link").symlink_to, "/etc/passwd")

#: symlink_native -> ok prints=blocked changed=/own
attempt_native("symlink", b"/etc/passwd", b"link")

#: symlink_raw -> ok prints=blocked changed=/own
attempt_native("syscall", SYS_symlinkat, b"/etc/passwd", -100, b"link")

#: symlink_by_copy -> ok prints=blocked changed=/own
# There is a link in the standard library of some systems; one that is copied as a link would stay one.
attempt(shutil.copyfile, "/proc/self/exe", "link", follow_symlinks=False)

#: symlink_by_tar -> ok prints=blocked changed=/own,/t.tar
with tarfile.open("t.tar", "w") as archive:
    member = tarfile.TarInfo("link")
    member.type, member.linkname = tarfile.SYMTYPE, "own"
    archive.addfile(member)
with tarfile.open("t.tar") as archive:
    try:
        archive.extract("link")
    except (OSError, KeyError):
        pass
print("ESCAPED" if os.path.islink("link") else "blocked")

#: hard_link_to_outside -> ok prints=blocked changed=/own
attempt(os.link, "/etc/passwd", "link")

#: hard_link_to_own_file -> ok prints=blocked changed=/own
attempt(os.link, "own", "link")

#: hard_link_to_the_bundle -> ok prints=blocked changed=/own
attempt(os.link, "../bundle/b.txt", "link")
#> bundle/b.txt
text

#: hard_link_to_packages -> ok prints=blocked changed=/own
import pydantic
attempt(os.link, pydantic.__file__, "link")

#: hard_link_into_temporary_directory -> ok prints=blocked changed=/own
attempt(os.link, "own", os.path.join(tempfile.gettempdir(), "link"))

#: hard_link_by_directory_descriptors -> ok prints=blocked changed=/own
here = os.open(".", os.O_RDONLY)
attempt(os.link, "own", "link", src_dir_fd=here, dst_dir_fd=here)

#: hard_link_by_pathlib -> ok prints=blocked changed=/own
attempt(pathlib.Path("link").hardlink_to, "own")

#: hard_link_native -> ok prints=blocked changed=/own
attempt_native("link", b"own", b"link")

#: hard_link_raw -> ok prints=blocked changed=/own
attempt_native("syscall", SYS_linkat, -100, b"own", -100, b"link", 0)

#: hard_link_of_a_descriptor -> ok prints=blocked changed=/own
# AT_EMPTY_PATH: a link to whatever the descriptor is.
file = os.open("own", os.O_RDONLY)
attempt_native("syscall", SYS_linkat, file, b"", -100, b"link", 0x1000)

#: hard_link_of_a_pipe -> ok prints=blocked changed=/own
attempt_native("syscall", SYS_linkat, 1, b"", -100, b"link", 0x1000)

#: hard_link_of_a_temporary_file -> ok prints=blocked changed=/own
file = os.open(".", os.O_TMPFILE | os.O_RDWR, 0o600)
os.write(file, b"x")
attempt_native("syscall", SYS_linkat, file, b"", -100, b"link", 0x1000)

#: hard_link_by_proc -> ok prints=blocked changed=/own
file = os.open("own", os.O_RDONLY)
attempt_native("syscall", SYS_linkat, -100, b"/proc/self/fd/%d" % file, -100, b"link", 0x400)

#: hard_link_by_tar -> ok prints=False changed=/own,/t.tar
with tarfile.open("t.tar", "w") as archive:
    member = tarfile.TarInfo("link")
    member.type, member.linkname = tarfile.LNKTYPE, "own"
    archive.addfile(member)
with tarfile.open("t.tar") as archive:
    try:
        archive.extract("link")
    except (OSError, KeyError):
        pass
print(os.stat("own").st_nlink > 1)

#: links_are_never_read -> ok prints=blocked changed=/own
attempt(os.readlink, "own")
