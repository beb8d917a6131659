# Too much: bytes, files, directories, depth. Attacks that fill a disk have much time, because the disk may be busy.
import errno, os, tempfile

def until_full(write):
    """Calls until the disk is full, which is an error like others; returns the number of calls."""
    for number in range(1 << 30):
        try:
            write(number)
        except OSError as error:
            print(errno.errorcode[error.errno])
            return number

def fill(number):
    with open(str(number), "wb", buffering=0) as file:
        for each in range(8):
            if file.write(bytes(1 << 20)) < 1 << 20:
                raise OSError(errno.ENOSPC, "a part")

#: ten_mebibytes -> ok changed=/a
open("a", "wb").write(bytes(10 << 20))

#: one_byte_more_than_ten_mebibytes -> ok fault=/a_has_10485761_bytes
open("a", "wb").write(bytes((10 << 20) + 1))

#: hole_of_ten_mebibytes -> ok changed=/a
os.truncate(os.open("a", os.O_CREAT | os.O_RDWR), 10 << 20)

#: hole_of_one_byte_more -> ok fault=/a_has_10485761_bytes
os.truncate(os.open("a", os.O_CREAT | os.O_RDWR), (10 << 20) + 1)

#: huge_hole -> ok prints=EFBIG changed=/a
try:
    os.truncate(os.open("a", os.O_CREAT | os.O_RDWR), 1 << 62)
except OSError as error:
    print(errno.errorcode[error.errno])

#: write_far_away -> ok prints=EFBIG changed=/a
try:
    os.pwrite(os.open("a", os.O_CREAT | os.O_RDWR), b"x", 1 << 40)
except OSError as error:
    print(errno.errorcode[error.errno])

#: longer_than_a_file_may_be -> ok prints=EFBIG fault=/a_has
file = os.open("a", os.O_CREAT | os.O_RDWR)
try:
    while True:
        os.write(file, bytes(1 << 20))
except OSError as error:
    print(errno.errorcode[error.errno])

#: sixty_four_mebibytes -> ok changed=/0,/1,/2,/3,/4,/5,/6,/7 time=100
for each in range(8):
    open(str(each), "wb").write(bytes(8 << 20))

#: one_byte_more_than_sixty_four_mebibytes -> ok fault=more_than_67108864_bytes time=100
for each in range(8):
    open(str(each), "wb").write(bytes(8 << 20))
open("more", "w").write("x")

#: more_in_temporary_files -> ok changed=/a time=100
for each in range(10):
    open(os.path.join(tempfile.gettempdir(), str(each)), "wb").write(bytes(8 << 20))
open("a", "w").close()

#: full_slot -> ok|killed fault=* time=100
# A file system of its own is full; elsewhere somebody counts.
until_full(fill)

#: full_slot_and_empty_again -> ok|killed changed=* fault=* time=100
count = until_full(fill)
for each in range(count + 1):
    os.unlink(str(each))
open("a", "w").write("x")

#: full_of_temporary_files -> ok|killed fault=* time=100
os.chdir(tempfile.gettempdir())
until_full(fill)

#: full_of_deleted_files -> ok prints=full time=100
# Elsewhere than in a file system of its own, the next attack shows the bound.
kept = []
try:
    for number in range(20 if PRIVATE_ROOT else 5):
        kept.append(os.open("a", os.O_CREAT | os.O_RDWR))
        os.unlink("a")
        for each in range(15):
            if os.write(kept[-1], bytes(1 << 20)) < 1 << 20:
                raise OSError
    print("ESCAPED" if PRIVATE_ROOT else "full")
except OSError:
    print("full")

#: deleted_files_have_a_bound -> ok|killed prints=True time=100
# However they are limited, files without names take less than two gibibytes.
kept, written = [], 0
try:
    while True:
        kept.append(os.open(".", os.O_TMPFILE | os.O_RDWR, 0o600))
        try:
            while True:
                got = os.write(kept[-1], bytes(1 << 20))
                written += got
                if got < 1 << 20:
                    break
        except OSError:
            pass
        if os.fstat(kept[-1]).st_size == 0:
            break
except OSError:
    pass
print(written < 2 << 30)

#: two_thousand_files -> ok changed=* time=100
for each in range(2000):
    open(str(each), "w").close()

#: one_file_more_than_two_thousand -> ok fault=more_than_2000_files time=100
for each in range(2001):
    open(str(each), "w").close()

#: millions_of_files -> ok|killed fault=* time=100
until_full(lambda number: open(str(number), "w").close())

#: millions_of_directories -> ok|killed fault=* time=100
until_full(lambda number: os.mkdir(str(number)))

#: millions_of_temporary_files -> ok|killed time=100
os.chdir(tempfile.gettempdir())
until_full(lambda number: open(str(number), "w").close())

#: files_that_come_and_go -> ok time=100
for each in range(3000):
    open("a", "w").close()
    os.unlink("a")

#: empty_directories_are_not_kept -> ok
os.makedirs("a/b/c")
os.mkdir("d")

#: eight_thousand_directories -> ok fault=* time=100
for each in range(7900):
    os.mkdir(str(each))

#: deep_tree -> ok fault=is_longer_than_1024_bytes time=100
for each in range(3000):
    os.mkdir("d")
    os.chdir("d")

#: deep_tree_with_a_file -> ok|exception fault=is_longer_than_1024_bytes time=100
for each in range(3000):
    os.mkdir("d")
    os.chdir("d")
    if each % 100 == 0:
        open("f", "w").close()

#: deep_temporary_tree -> ok time=100
os.chdir(tempfile.gettempdir())
for each in range(3000):
    os.mkdir("d")
    os.chdir("d")

#: deep_tree_with_twigs -> ok fault=is_longer_than_1024_bytes time=100
for each in range(1500):
    os.mkdir("a")
    os.mkdir("b")
    os.chdir("a")

#: deep_tree_without_permissions -> ok|exception fault=* time=100
for each in range(300):
    os.mkdir("d", 0o300)
    os.chdir("d")

#: files_without_permissions -> ok changed=/a,/b/c
os.close(os.open("a", os.O_CREAT | os.O_WRONLY, 0))
os.mkdir("b", 0o300)
os.close(os.open("b/c", os.O_CREAT | os.O_WRONLY, 0))

#: set_user_files -> ok changed=/a
os.close(os.open("a", os.O_CREAT | os.O_WRONLY, 0o6777))

#: many_descriptors -> ok prints=EMFILE changed=/a
kept = []
open("a", "w").close()
try:
    while True:
        kept.append(os.open("a", os.O_RDONLY))
except OSError as error:
    print(errno.errorcode[error.errno])

#: directory_that_moves_while_it_is_counted -> ok|killed|exception|timeout fault=* changed=* time=2
import itertools
os.mkdir("d0")
for each in itertools.count():
    with open(f"d{each}/f{each}", "wb") as file:
        file.write(bytes(1 << 16))
    os.rename(f"d{each}", f"d{each + 1}")
