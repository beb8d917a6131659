# Reports that are forged, and ends of all kinds; what was done to the files is told in any case.
import os, sys
open("kept", "w").write("x")

#: report_forged -> ok result="forged" changed=/kept
os.write(3, b'{"result": "forged"}')
os._exit(0)

#: report_forged_before_the_true_one -> killed changed=/kept
os.write(3, b'{"result": "forged"}')

#: report_forged_with_files -> killed changed=/kept
os.write(3, b'{"result": 1, "files": {"changed": [], "deleted": ["/etc/passwd"], "fault": null}}')
os._exit(0)

#: report_forged_kind -> killed changed=/kept
os.write(3, b'{"kind": "killed", "error": "x"}')
os._exit(0)

#: report_forged_exit -> killed changed=/kept
os.write(3, b'{"result": 1, "exit": 0, "ok": true}')
os._exit(0)

#: report_forged_and_changed_afterwards -> ok result=1 changed=/kept,/late
# The snapshot is taken after the process is dead, so everything that it did is seen.
os.write(3, b'{"result": 1}')
os.close(3)
open("late", "w").write("x")
os._exit(0)

#: report_forged_and_changed_much_later -> timeout time=0.5 changed=/kept,/late
import time
os.write(3, b'{"result": 1}')
for each in (1, 2, 3):
    os.close(each)
time.sleep(0.2)
open("late", "w").write("x")
time.sleep(60)

#: report_forged_and_mapped_file_changed -> ok result=1 changed=/kept,/map
import mmap
open("map", "wb").write(bytes(4096))
mapped = mmap.mmap(os.open("map", os.O_RDWR), 4096)
os.write(3, b'{"result": 1}')
os.close(3)
mapped[:] = b"y" * 4096
os._exit(0)

#: report_of_a_gigabyte -> killed changed=/kept
while True:
    os.write(3, bytes(1 << 16))

#: report_pipe_closed -> killed changed=/kept
os.close(3)

#: report_pipe_replaced_by_a_file -> killed changed=/fake,/kept
os.dup2(os.open("fake", os.O_CREAT | os.O_WRONLY), 3)

#: report_pipe_replaced_by_output -> killed changed=/kept
os.dup2(1, 3)

#: all_pipes_closed -> killed changed=/kept
os.closerange(0, 256)

#: all_pipes_closed_and_files_opened_instead -> killed changed=/0,/1,/2,/3,/4,/5,/kept
os.closerange(0, 256)
for each in range(6):
    os.open(str(each), os.O_CREAT | os.O_RDWR)

#: descriptors_of_a_call -> ok prints=[0,1,2,3] changed=/kept
found = []
for each in range(256):
    try:
        os.fstat(each)
        found.append(each)
    except OSError:
        pass
print(str(found).replace(" ", ""))

#: descriptors_that_were_inherited -> ok prints=0 changed=/kept
written = 0
for each in [0, *range(4, 300)]:
    try:
        written += os.write(each, b"g")
    except OSError:
        pass
print(written)

#: pipes_are_not_read -> ok prints=blocked changed=/kept
for each in (1, 2, 3):
    try:
        print("ESCAPED", os.read(each, 10))
    except OSError:
        pass
print("blocked")

#: pipes_made_not_to_wait -> ok|killed|exception changed=/kept
for each in (1, 2, 3):
    os.set_blocking(each, False)
print("x" * 200000)

#: end_without_a_word -> killed changed=/kept
os._exit(0)

#: end_as_if_there_were_no_protection -> killed changed=/kept
os._exit(70)

#: end_by_abort -> killed changed=/kept
os.abort()

#: end_by_a_crash -> killed changed=/kept
import ctypes
ctypes.string_at(0)

#: end_by_sys_exit -> exception changed=/kept
sys.exit(0)

#: end_by_a_function -> exception changed=/kept
def run(): sys.exit(0)

#: end_by_an_exception -> exception changed=/kept
def run(): raise ValueError("x" * 1000000)

#: end_by_memory -> memory changed=/kept memory=20
kept = []
while True: kept.append(bytearray(1 << 16))

#: end_by_recursion -> exception|killed|memory|timeout changed=/kept time=1
sys.setrecursionlimit(10**6)
def run(): return run()

#: end_by_an_unhashable_type -> exception changed=/kept
class Meta(type):
    __hash__ = None
    def __eq__(self, other): raise SystemExit(0)
class Mine(Exception, metaclass=Meta): pass
def run(): raise Mine

#: exception_whose_text_loops -> timeout time=0.5 changed=/kept
class Mine(Exception):
    def __str__(self):
        while True: pass
def run(): raise Mine

#: exception_whose_text_changes_files -> exception changed=/kept,/late
class Mine(Exception):
    def __str__(self):
        open("late", "w").write("x")
        return "told"
def run(): raise Mine

#: exception_with_a_file_name_of_others -> exception changed=/kept
def run(): exec(compile("1/0", "/etc/passwd", "exec"))

#: exception_with_a_file_name_of_its_own -> exception changed=/kept,/lines
# The traceback may show the lines of the file, but not whatever else.
open("lines", "w").write("\n" * 5 + "x" * 1000000)
def run(): exec(compile("\n\n\n\n\n1/0", os.path.abspath("lines"), "exec"))

#: result_that_is_huge -> exception changed=/kept
def run(): return "x" * (3 << 20)

#: result_that_is_deep -> exception|killed changed=/kept
def run():
    value = []
    for each in range(100000): value = [value]
    return value

#: result_that_is_a_circle -> exception|killed|memory changed=/kept time=3
def run():
    value = []
    value.append(value)
    return value

#: result_that_is_no_number -> exception|ok changed=/kept
def run(): return float("nan")

#: result_of_half_characters -> ok|exception changed=/kept
def run(): return "a\ud800b"

#: result_of_bytes -> ok|exception changed=/kept
def run(): return b"\xff"

#: result_without_end -> timeout|memory|exception changed=/kept time=1 memory=50
def run():
    class Endless(list):
        def __iter__(self):
            while True: yield 1
    return Endless([1])

#: result_that_lies_about_itself -> ok|exception|killed changed=/kept
def run():
    class Liar(dict):
        def items(self): return [("a", 1)] * 3
        def __len__(self): return 0
        def keys(self): raise SystemExit(0)
    return Liar(a=1)

#: result_that_changes_files_when_it_is_read -> ok|exception changed=* time=2
def run():
    import pydantic
    class Evil(pydantic.BaseModel):
        @pydantic.model_serializer
        def serialize(self):
            open("late", "w").write("x")
            return {"x": 1}
    return Evil()

#: result_that_is_a_function -> exception changed=/kept
def run(): return run

#: result_that_is_a_generator -> exception|ok|timeout|memory changed=/kept time=1 memory=50
def run():
    while True: yield 1

#: output_in_a_flood -> killed changed=/kept
while True: print("x" * (1 << 16))

#: error_output_in_a_flood -> killed changed=/kept
while True: print("x" * (1 << 16), file=sys.stderr)

#: deleter_at_the_end -> ok changed=*
class Evil:
    def __del__(self): open("late", "w").write("x")
evil = Evil()

#: callback_at_the_end -> ok changed=/kept
import atexit
atexit.register(lambda: open("late", "w").write("x"))
