# Metadata: calls that seem to succeed, and change nothing.
import fcntl, os, shutil, stat, tempfile, time
import pydantic
open("own", "w").write("x")

#: mode_is_pretended -> ok prints=True changed=/own
before = os.stat("own").st_mode
os.chmod("own", 0)
print(os.stat("own").st_mode == before)

#: mode_of_a_descriptor_is_pretended -> ok prints=True changed=/own
before = os.stat("own").st_mode
os.fchmod(os.open("own", os.O_RDONLY), 0o4777)
print(os.stat("own").st_mode == before)

#: mode_of_parents_is_pretended -> ok prints=True changed=/own
paths = ["..", "../..", "../../..", "../bundle", "../tmp", "/"]
before = [os.stat(path).st_mode for path in paths]
for path in paths:
    os.chmod(path, 0o777)
print([os.stat(path).st_mode for path in paths] == before)

#: mode_of_packages_is_pretended -> ok prints=True changed=/own
before = os.stat(pydantic.__file__).st_mode
os.chmod(pydantic.__file__, 0o666)
print(os.stat(pydantic.__file__).st_mode == before)

#: mode_of_outside_is_pretended -> ok prints=fine changed=/own
for path in ("/etc/passwd", "/tmp", "/nowhere/at/all"):
    os.chmod(path, 0o777)
print("fine")

#: owner_is_pretended -> ok prints=True changed=/own
before = os.stat("own")
os.chown("own", 0, 0)
os.lchown("own", 1, 1)
os.fchown(os.open("own", os.O_RDONLY), 2, 2)
after = os.stat("own")
print((before.st_uid, before.st_gid) == (after.st_uid, after.st_gid))

#: times_are_pretended -> ok prints=True changed=/own
before = os.stat("own").st_mtime_ns
os.utime("own", (1, 1))
os.utime(os.open("own", os.O_RDONLY), ns=(1, 1))
print(os.stat("own").st_mtime_ns == before)

#: times_of_parents_are_pretended -> ok prints=True changed=/own
paths = ["..", "../..", "/", pydantic.__file__]
before = [os.stat(path).st_mtime_ns for path in paths]
for path in paths:
    os.utime(path, (1, 1))
print([os.stat(path).st_mtime_ns for path in paths] == before)

#: mask_is_pretended -> ok prints=00 changed=/b,/own
print(os.umask(0o777), os.umask(0), sep="")
open("b", "w").close()

#: disk_is_pretended -> ok prints=fine changed=/own
file = os.open("own", os.O_RDWR)
os.fsync(file)
os.fdatasync(file)
os.sync()
print("fine")

#: locks_are_pretended -> ok prints=fine changed=/own
one, other = os.open("own", os.O_RDWR), os.open("own", os.O_RDWR)
for file in (one, other):
    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
print("fine")

#: allocation_is_bounded -> ok prints=27 changed=* fault=*
# The C library writes to each block if the system cannot allocate; no file may be so long.
try:
    os.posix_fallocate(os.open("own", os.O_RDWR), 0, 1 << 40)
except OSError as error:
    print(error.errno)

#: copies_with_metadata -> ok prints=x changed=/copy,/own,/tree/a
shutil.copy2("own", "copy")
os.mkdir("d")
open("d/a", "w").write("x")
shutil.copytree("d", "tree")
shutil.rmtree("d")
print(open("copy").read())

#: files_are_as_usual -> ok prints=fine changed=/own
with tempfile.NamedTemporaryFile("w+", dir=".") as file:
    file.write("x")
with tempfile.TemporaryDirectory() as folder:
    open(os.path.join(folder, "a"), "w").close()
with tempfile.SpooledTemporaryFile() as file:
    file.write(b"x")
print("fine")

#: owner_of_files_is_the_user -> ok prints=True changed=/own
print(os.stat("own").st_uid == os.getuid() == os.geteuid())

#: terminals_are_none -> ok prints=False changed=/own
print(os.isatty(1))
