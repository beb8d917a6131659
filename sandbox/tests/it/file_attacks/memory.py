# Memory, by way of files, and data that unpacks to more than it seems.
import gzip, io, mmap, os, pickle, tarfile, tempfile, time, zipfile, zlib

# Every member of an archive is extracted, whatever the version of Python thinks of it.
tarfile.TarFile.extraction_filter = staticmethod(lambda member, path: member)

def until_memory(action):
    kept = []
    try:
        while True:
            kept.append(action())
    except (MemoryError, OSError):
        del kept[1:]
        print("blocked")

def hole(size):
    file = os.open("hole", os.O_CREAT | os.O_RDWR)
    os.truncate(file, size)
    return file

#: map_holes -> ok prints=blocked memory=50 changed=/hole
file = hole(10 << 20)
until_memory(lambda: mmap.mmap(file, 10 << 20))

#: map_holes_and_write -> ok|killed memory=50 changed=/hole
file = hole(10 << 20)
def fill():
    mapped = mmap.mmap(file, 10 << 20)
    mapped[:] = bytes(10 << 20)
    return mapped
until_memory(fill)

#: map_holes_privately -> ok prints=blocked memory=50 changed=/hole
file = hole(10 << 20)
until_memory(lambda: mmap.mmap(file, 10 << 20, mmap.MAP_PRIVATE))

#: map_packages -> ok prints=blocked memory=50
import pydantic_core._pydantic_core as core
file = os.open(core.__file__, os.O_RDONLY)
until_memory(lambda: mmap.mmap(file, 0, mmap.MAP_PRIVATE, mmap.PROT_READ))

#: map_and_cut_the_file -> killed changed=/hole
file = hole(1 << 20)
mapped = mmap.mmap(file, 1 << 20)
os.truncate(file, 0)
mapped[5000]

#: map_in_a_full_slot -> ok|killed|exception fault=* changed=* time=100
# A write to a hole that nobody has room for.
hole(8 << 20)
mapped = mmap.mmap(os.open("hole", os.O_RDWR), 8 << 20)
try:
    for each in range(1 << 20):
        with open(str(each), "wb", buffering=0) as file:
            for part in range(8):
                if file.write(bytes(1 << 20)) < 1 << 20:
                    raise OSError
except OSError:
    pass
for each in range(0, 8 << 20, 4096):
    mapped[each] = 1

#: map_written_at_the_end -> ok changed=/hole
# What is written through a map, and never synchronised, is in the file.
file = hole(4096)
mapped = mmap.mmap(file, 4096)
mapped[:] = b"x" * 4096

#: map_written_and_exit -> killed changed=/hole
file = hole(4096)
mapped = mmap.mmap(file, 4096)
mapped[:] = b"x" * 4096
os._exit(0)

#: map_of_a_deleted_file -> ok
file = hole(4096)
mapped = mmap.mmap(file, 4096)
os.remove("hole")
mapped[:] = b"x" * 4096

#: files_are_no_memory -> memory|exception memory=20 changed=/big
# A file of twice the memory can be written, and not be read at once.
with open("big", "wb") as file:
    for each in range(40):
        file.write(bytes(1 << 18))
kept = [open("big", "rb").read() for each in range(10)]

#: gzip_bomb -> ok|memory prints=blocked memory=30
data = gzip.compress(bytes(10 << 20))
try:
    kept = [gzip.decompress(data) for each in range(100)]
    print("ESCAPED")
except MemoryError:
    kept = None
    print("blocked")

#: gzip_bomb_to_a_file -> ok|killed prints=blocked time=100 memory=50
packed = io.BytesIO()
with gzip.GzipFile(fileobj=packed, mode="wb", compresslevel=1) as out:
    for each in range(80):
        out.write(bytes(1 << 20))
packed.seek(0)
try:
    with gzip.open(packed) as source, open(os.path.join(tempfile.gettempdir(), "bomb"), "wb") as target:
        while part := source.read(1 << 20):
            target.write(part)
    print("ESCAPED")
except OSError:
    print("blocked")

#: zip_bomb -> ok|killed fault=* time=100 memory=50
with zipfile.ZipFile("bomb.zip", "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
    for each in range(40):
        archive.writestr(str(each), bytes(8 << 20))
try:
    zipfile.ZipFile("bomb.zip").extractall()
    time.sleep(20)  # A folder on a disk is counted every now and then. On a busy machine the archive is unpacked by then.
    print("ESCAPED")
except OSError:
    print("blocked")

#: zip_of_many_names -> ok|killed|memory fault=* time=100 memory=100
with zipfile.ZipFile("many.zip", "w") as archive:
    for each in range(20000):
        archive.writestr(f"{each}", b"")
try:
    zipfile.ZipFile("many.zip").extractall()
except OSError:
    pass

#: zip_with_names_that_lead_out -> ok prints=False changed=/escaped.txt,/evil.zip
with zipfile.ZipFile("evil.zip", "w") as archive:
    archive.writestr("../../escaped.txt", "x")
    archive.writestr("/escaped.txt", "x")
zipfile.ZipFile("evil.zip").extractall()
print(os.path.exists("../escaped.txt") or os.path.exists("/escaped.txt"))

#: tar_with_names_that_lead_out -> ok prints=blocked changed=/evil.tar
with tarfile.open("evil.tar", "w") as archive:
    for name in ("../escaped", "/tmp/pegboard-sandbox-escaped", "a/../../../escaped"):
        archive.addfile(tarfile.TarInfo(name), io.BytesIO())
with tarfile.open("evil.tar") as archive:
    for member in archive:
        try:
            archive.extract(member)
            print("ESCAPED", member.name)
        except OSError:
            pass
print("blocked")

#: tar_with_links_that_lead_out -> ok prints=blocked changed=/evil.tar,/link2/through
with tarfile.open("evil.tar", "w") as archive:
    for kind in (tarfile.SYMTYPE, tarfile.LNKTYPE):
        member = tarfile.TarInfo("link" + kind.decode())
        member.type, member.linkname = kind, "/etc/passwd"
        archive.addfile(member)
    archive.addfile(tarfile.TarInfo("link2/through"), io.BytesIO())
with tarfile.open("evil.tar") as archive:
    for member in archive:
        try:
            archive.extract(member)
        except (OSError, KeyError):
            pass
print("ESCAPED" if any(map(os.path.islink, os.listdir("."))) or os.path.exists("link1") else "blocked")

#: tar_with_devices -> ok prints=blocked changed=/evil.tar
with tarfile.open("evil.tar", "w") as archive:
    member = tarfile.TarInfo("device")
    member.type, member.devmajor, member.devminor = tarfile.CHRTYPE, 1, 3
    archive.addfile(member)
with tarfile.open("evil.tar") as archive:
    try:
        archive.extractall()
    except OSError:
        pass
print("ESCAPED" if os.path.exists("device") else "blocked")

#: pickle_of_a_command -> ok prints=blocked
class Evil:
    def __reduce__(self): return os.system, ("echo ESCAPED",)
print("blocked" if pickle.loads(pickle.dumps(Evil())) != 0 else "ESCAPED")

#: pickle_of_a_process -> ok prints=blocked
import subprocess
class Evil:
    def __reduce__(self): return subprocess.check_output, (["id"],)
try:
    print("ESCAPED", pickle.loads(pickle.dumps(Evil())))
except OSError:
    print("blocked")

#: pickle_of_memory -> memory|exception memory=20
pickle.loads(b"\x80\x04\x8e" + (1 << 40).to_bytes(8, "little") + b"x")

#: pickle_of_depth -> ok|exception|killed|memory|timeout time=2
pickle.loads(b"(" * 1000000 + b"l" * 1000000 + b".")

#: xml_bomb -> ok|exception|memory|timeout time=2 memory=30
import xml.etree.ElementTree as tree
entities = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 12))
tree.fromstring(f'<!DOCTYPE x [<!ENTITY e0 "0123456789">{entities}]><x>&e11;</x>')

#: xml_that_reads_files -> ok prints=blocked
import xml.sax, xml.sax.handler
class Handler(xml.sax.handler.ContentHandler):
    def characters(self, text): print("ESCAPED", text)
parser = xml.sax.make_parser()
parser.setFeature(xml.sax.handler.feature_external_ges, True)
parser.setContentHandler(Handler())
try:
    parser.parse(io.StringIO('<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]><x>&e;</x>'))
except (OSError, xml.sax.SAXException):
    pass
print("blocked")

#: deflated_without_end -> ok|memory prints=blocked memory=20
try:
    kept = [zlib.decompress(zlib.compress(bytes(4 << 20))) for each in range(1000)]
    print("ESCAPED")
except MemoryError:
    kept = None
    print("blocked")

#: database_that_grows -> ok|killed|exception fault=* changed=* time=100
import sqlite3
database = sqlite3.connect("grow.db")
database.execute("create table t (x)")
try:
    while True:
        database.execute("insert into t values (zeroblob(1000000))")
        database.commit()
except sqlite3.Error as error:
    print(type(error).__name__)

#: database_with_a_journal -> ok prints=wal[(1,)] changed=/d.db
import sqlite3
database = sqlite3.connect("d.db")
mode, = database.execute("pragma journal_mode=wal").fetchone()
database.execute("create table t (x)")
database.execute("insert into t values (1)")
database.commit()
other = sqlite3.connect("d.db")
print(mode, other.execute("select * from t").fetchall(), sep="")
other.close()
database.close()

#: database_with_a_journal_that_stays_open -> ok changed=/d.db,/d.db-shm,/d.db-wal
import sqlite3
database = sqlite3.connect("d.db")
database.execute("pragma journal_mode=wal")
database.execute("create table t (x)")
database.commit()

#: database_that_loads_extensions -> ok prints=blocked
import sqlite3
database = sqlite3.connect(":memory:")
try:
    database.enable_load_extension(True)
    database.load_extension("/usr/lib/x86_64-linux-gnu/libm.so.6")
    print("ESCAPED")
except (AttributeError, sqlite3.Error):
    print("blocked")

#: database_elsewhere -> ok prints=blocked
import sqlite3
database = sqlite3.connect(":memory:")
for path in ("/tmp/pegboard-sandbox-escaped.db", "../../escaped.db", "/etc/passwd"):
    try:
        database.execute("attach ? as x", (path,))
        database.execute("create table x.t (x)")
        print("ESCAPED")
    except sqlite3.Error:
        pass
print("blocked")
