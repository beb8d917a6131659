# Memory, by all the ways there are to have it.
import json, re, typing
sys = typing.sys

#: one_block -> memory
x = b"a" * (600 << 20)

#: just_too_much -> memory
x = bytearray(51 << 20)

#: below_the_limit -> ok prints=fine
x = bytearray(16 << 20)
print("fine")

#: almost_all -> ok prints=fine
x = bytearray(40 << 20)
print("fine")

#: lowered_limit -> memory memory=10
x = bytearray(16 << 20)

#: small_blocks -> memory
x = []
while True: x.append(bytearray(1 << 16))

#: tiny_objects -> memory memory=8
x = []
while True: x.append([])

#: linked -> memory|killed memory=8
x = None
while True: x = (x, 1)

#: dictionary -> memory memory=8
x = {}
while True: x[len(x)] = None

#: text_doubling -> memory
x = "x"
while True: x += x

#: huge_integer -> memory
x = 1 << (1 << 30)

#: huge_list -> memory
x = [0] * (1 << 40)

#: beyond_all_sizes -> exception|memory
x = b"x" * (1 << 62)

#: wide_format -> memory|exception
x = f"{1:>200000000}"

#: wide_percent -> memory|exception
x = "%200000000d" % 1

#: list_of_range -> memory
x = list(range(10**9))

#: deep_tuple_of_copies -> ok|memory
x = ()
for each in range(200): x = (x, x)

#: deep_list_is_freed -> ok prints=fine
x = []
for each in range(200000): x = [x]
del x
print("fine")

#: json_bomb -> memory memory=10
x = json.loads("[" + "[]," * 200000 + "1]")

#: json_of_copies -> memory memory=20
x = "x" * 1000000
json.dumps([x] * 1000)

#: regular_expression_bomb -> memory|exception|timeout time=0.3
re.compile("(?:a|b|" * 400 + "c" + ")" * 400 + "{2,50000}" + "[a-z]" * 100000).match("abc" * 100000)

#: caught_and_gone_on -> ok prints=fine
try:
    x = bytearray(1 << 30)
except MemoryError:
    print("fine")

#: caught_again_and_again -> ok|memory|timeout time=0.3 memory=8
for each in range(200):
    try:
        x = [bytearray(1 << 20) for each in range(1000)]
    except MemoryError:
        x = None

#: caught_without_end -> timeout|memory|killed time=0.3 memory=8
x = []
while True:
    try:
        x.append(bytearray(1 << 12))
    except MemoryError:
        pass

#: kept_in_the_exception -> memory memory=8
class Mine(MemoryError): pass
try:
    x = []
    while True: x.append(bytearray(1 << 10))
except MemoryError as error:
    raise Mine(x)

#: anonymous_map -> ok prints=blocked
ctypes = sys.modules["ctypes"]
mmap = ctypes.CDLL(None).mmap
mmap.restype = ctypes.c_ssize_t
print("ESCAPED" if mmap(None, ctypes.c_long(200 << 20), 3, 0x22, -1, ctypes.c_long(0)) != -1 else "blocked")

#: shared_map -> ok prints=blocked
ctypes = sys.modules["ctypes"]
mmap = ctypes.CDLL(None).mmap
mmap.restype = ctypes.c_ssize_t
print("ESCAPED" if mmap(None, ctypes.c_long(200 << 20), 3, 0x21, -1, ctypes.c_long(0)) != -1 else "blocked")

#: unreserved_map -> ok prints=blocked
ctypes = sys.modules["ctypes"]
mmap = ctypes.CDLL(None).mmap
mmap.restype = ctypes.c_ssize_t
print("ESCAPED" if mmap(None, ctypes.c_long(1 << 40), 0, 0x4022, -1, ctypes.c_long(0)) != -1 else "blocked")

#: stack_map -> ok prints=blocked
ctypes = sys.modules["ctypes"]
mmap = ctypes.CDLL(None).mmap
mmap.restype = ctypes.c_ssize_t
print("ESCAPED" if mmap(None, ctypes.c_long(200 << 20), 3, 0x20122, -1, ctypes.c_long(0)) != -1 else "blocked")

#: program_break -> ok prints=blocked
ctypes = sys.modules["ctypes"]
sbrk = ctypes.CDLL(None).sbrk
sbrk.restype = ctypes.c_ssize_t
print("ESCAPED" if sbrk(ctypes.c_long(200 << 20)) != -1 else "blocked")

#: deep_recursion -> exception
def f(): return f()
f()

#: recursion_by_repr -> exception
x = []
for each in range(100000): x = [x]
repr(x)

#: recursion_by_compare -> exception
a, b = [], []
for each in range(100000): a, b = [a], [b]
a == b

#: recursion_by_json -> exception
json.loads("[" * 100000)

#: recursion_by_getattr -> exception
class A:
    def __getattr__(self, name): return getattr(self, name + "x")
A().x

#: recursion_in_native_code -> killed|exception|memory
sys.setrecursionlimit(1 << 30)
x = None
for each in range(100000): x = {"a": x}
json.dumps(x)

#: recursion_in_compiler -> syntax|exception|memory|killed
eval("(" * 100000 + ")" * 100000)
