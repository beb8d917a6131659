# Time: using it up, sleeping, and waiting for ever.
import json, re, typing
sys = typing.sys

#: endless_loop -> timeout time=0.1
while True: pass

#: endless_loop_that_catches_all -> timeout time=0.1
while True:
    try:
        while True: pass
    except BaseException:
        pass

#: endless_generator -> timeout time=0.1
def g():
    while True: yield 1
sum(g())

#: catastrophic_expression -> timeout time=0.1
re.match(r"(a+)+$", "a" * 60 + "b")

#: catastrophic_alternatives -> timeout time=0.1
re.match(r"(a|aa|aaa)*c", "a" * 80)

#: catastrophic_search -> timeout time=0.1
re.search(r"(\w*\s*)*!", "word " * 60)

#: big_power -> timeout|memory time=0.1
x = 3 ** (10 ** 8)

#: big_product -> timeout|memory time=0.1
x = 7 ** 3000000
while True: y = x * x

#: big_factorial -> timeout|memory time=0.1
x = 1
for each in range(1, 10**9): x *= each

#: big_integer_as_text -> exception
str(10 ** 5000)

#: text_as_big_integer -> exception
int("9" * 5000)

#: sum_of_all -> timeout time=0.1
sum(range(10 ** 12))

#: long_range_search -> timeout time=0.1
"x" in (each for each in range(10 ** 12))

#: hash_collisions -> timeout time=0.1
class Same:
    def __hash__(self): return 1
    def __eq__(self, other): return False
x = {Same() for each in range(100000)}

#: endless_comparison -> timeout time=0.1
class Evil:
    def __lt__(self, other):
        while True: pass
sorted([Evil(), Evil()])

#: endless_import_lock -> timeout time=0.1
sys.modules["_imp"].acquire_lock()
while True: pass

#: quadratic_replace -> timeout|memory|ok time=0.1
x = "a" * 1000000
while True: x.replace("a", "b").count("bb")

#: sleep -> timeout time=0.1
sys.modules["time"].sleep(1000)

#: sleep_in_pieces -> timeout time=0.1
while True: sys.modules["time"].sleep(0.01)

#: deadlock -> timeout time=0.1
lock = sys.modules["_thread"].allocate_lock()
lock.acquire()
lock.acquire()

#: wait_for_input -> exception
input()

#: wait_for_native_input -> exception
sys.modules["posix"].read(0, 10)

#: read_from_its_output -> exception
sys.modules["posix"].read(1, 10)

#: endless_deleter -> timeout time=0.1
class Evil:
    def __del__(self):
        while True: pass
Evil()

#: endless_flush -> timeout time=0.1
class Evil:
    def write(self, text): pass
    def flush(self):
        while True: pass
sys.stdout = Evil()

#: endless_exit -> timeout time=0.1
class Evil(SystemExit):
    @property
    def code(self):
        while True: pass
raise Evil

#: endless_after_forged_result -> timeout time=0.1
sys.modules["posix"].write(3, b'{"result": 1}')
while True: pass

#: endless_after_closing_all -> timeout time=0.1
sys.modules["posix"].closerange(0, 100)
while True: pass

#: said_before_the_end -> timeout time=0.1 prints=kept
print("kept")
while True: pass

#: native_endless_loop -> timeout time=0.1
ctypes = sys.modules["ctypes"]
ctypes.CDLL(None).sleep(1000)

#: yielding_the_processor -> timeout time=0.1
while True: sys.modules["posix"].sched_yield()
