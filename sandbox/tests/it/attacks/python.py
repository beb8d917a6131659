# Attacks on Python itself: they must find nothing of use, and leave no trace.
import json, re, typing
sys = typing.sys

#: subclasses_to_os -> ok prints=blocked
for each in object.__subclasses__():
    if each.__name__ == "_wrap_close":
        os = sys.modules[each.__module__]
        try:
            print("ESCAPED", os.popen("id").read())
        except (ImportError, OSError):
            print("blocked")

#: subclasses_to_globals -> ok prints=blocked
for each in object.__subclasses__():
    init = getattr(each.__init__, "__globals__", None)
    if init and "open" in dir(init.get("__builtins__", {})):
        break
try:
    print("ESCAPED", sys.modules["io"].open("/etc/passwd").read())
except OSError:
    print("blocked")

#: builtin_importer -> ok prints=blocked
importer = next(each for each in object.__subclasses__() if each.__name__ == "BuiltinImporter")
try:
    print("ESCAPED", importer.load_module("posix").listdir("/"))
except OSError:
    print("blocked")

#: format_string_walk -> ok
print("{0.__class__.__mro__[1].__subclasses__}".format(0))

#: frames_of_the_harness -> ok prints=blocked
frame, seen = sys._getframe(), []
while frame:
    seen.append(frame.f_code.co_name)
    for name, value in list(frame.f_locals.items()):
        if name in ("control", "filter_program", "descriptors"):
            try:
                sys.modules["posix"].write(value if isinstance(value, int) else 0, b"X")
                print("ESCAPED", name)
            except (OSError, TypeError):
                pass
    frame = frame.f_back
print("blocked")

#: zygote_module -> ok prints=blocked
zygote = sys.modules["zygote"]
try:
    zygote.fork((1 << 40, 100), [1, 1, 1, 1], None)
    print("ESCAPED")
except OSError:
    print("blocked")

#: zygote_control_socket -> ok prints=blocked
socket = sys.modules["_socket"]
found = 0
for descriptor in range(0, 300):
    try:
        adopted = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET, 0, fileno=descriptor)
    except OSError:
        continue
    try:
        adopted.send(b"R" + bytes(20))
        found += 1
    except OSError:
        pass
    adopted.detach()
print("ESCAPED" if found else "blocked")

#: garbage_collector -> ok prints=blocked
gc = sys.modules["gc"]
gc.unfreeze()
for each in gc.get_objects():
    if type(each).__name__ == "socket":
        try:
            each.send(b"X" + bytes(12))
            print("ESCAPED")
        except OSError:
            pass
print("blocked")

#: generator_frames -> ok
def g():
    yield
frame = g().gi_frame
print(frame.f_back, frame.f_builtins.keys() and "fine")

#: traceback_frames -> ok prints=True
try:
    1 / 0
except ZeroDivisionError as error:
    print(error.__traceback__.tb_frame.f_back.f_globals["__name__"] in ("guest", "child"))

#: code_object_with_bad_index -> killed|exception|ok time=1
def f():
    return None
f.__code__ = f.__code__.replace(co_code=bytes([124, 200, 83, 0] * 4), co_consts=())
print(f())

#: code_object_of_noise -> killed|exception|timeout|memory|ok time=0.5
def f():
    return None
noise = bytes((each * 37 + 11) % 256 for each in range(400))
f.__code__ = f.__code__.replace(co_code=noise, co_stacksize=100)
f()

#: code_object_with_no_stack -> killed|exception|ok|timeout|memory time=0.5
def f(a, b):
    return [a, b, [a, [b, [a, [b]]]]]
f.__code__ = f.__code__.replace(co_stacksize=0)
for each in range(10000):
    f(each, f)

#: null_pointer -> killed
sys.modules["ctypes"].string_at(0)

#: wild_write -> killed
ctypes = sys.modules["ctypes"]
ctypes.memset(ctypes.c_void_p(0x1000), 0, 1 << 30)

#: wild_jump -> killed
ctypes = sys.modules["ctypes"]
ctypes.CFUNCTYPE(None)(0xDEAD)()

#: callback_needs_executable_memory -> ok|killed|exception|memory
ctypes = sys.modules["ctypes"]
kept = [ctypes.CFUNCTYPE(ctypes.c_int)(lambda: 1) for each in range(1000)]

#: refcount_corruption -> killed|ok|exception
ctypes = sys.modules["ctypes"]
for each in (None, True, (), "", int, object):
    ctypes.c_ssize_t.from_address(id(each)).value = 0
x = [None] * 10
del x

#: abort -> killed
sys.modules["posix"].abort()

#: exit_without_a_word -> killed
sys.modules["posix"]._exit(0)

#: exit_as_if_there_were_no_wall -> killed
sys.modules["posix"]._exit(70)

#: forged_result -> ok prints=
sys.modules["posix"].write(3, b'{"result": "forged, and only for its own caller"}')
sys.modules["posix"]._exit(0)

#: forged_garbage -> killed
sys.modules["posix"].write(3, b"\xff{{{")

#: forged_twice -> killed
sys.modules["posix"].write(3, b'{"result": 1}')

#: forged_timeout -> killed
sys.modules["posix"].write(3, b'{"kind": "timeout", "error": "x"}')
sys.modules["posix"]._exit(0)

#: forged_depth -> killed|exception
sys.modules["posix"].write(3, b'{"result": ' + b"[" * 50000 + b"]" * 50000 + b"}")
sys.modules["posix"]._exit(0)

#: forged_surrogate -> exception
sys.modules["posix"].write(3, b'{"result": "\\ud800"}')
sys.modules["posix"]._exit(0)

#: forged_number -> exception|killed
sys.modules["posix"].write(3, b'{"result": 1e99999}')
sys.modules["posix"]._exit(0)

#: poison_json -> ok
json.dumps = json.loads = lambda *a, **k: "poisoned"
json.encoder.c_make_encoder = None
json._default_encoder = None

#: poison_re -> ok
re.sub = re.compile = lambda *a, **k: "poisoned"
re._cache.clear()

#: poison_builtins -> ok
builtins = sys.modules["builtins"]
builtins.len = builtins.sorted = builtins.isinstance = lambda *a: 0

#: poison_own_builtins -> ok
__builtins__.clear()

#: poison_modules -> killed|exception|ok
for each in list(sys.modules):
    if each not in ("builtins", "sys"):
        sys.modules[each] = None

#: poison_harness -> ok|exception|killed
for each in ("report", "guest", "child", "lockdown", "zygote"):
    module = sys.modules[each]
    for name in list(vars(module)):
        if not name.startswith("__"):
            setattr(module, name, None)

#: poison_types_by_pointer -> ok|killed|exception
ctypes = sys.modules["ctypes"]
proxy = type.__dict__["__dict__"].__get__(int)
space = ctypes.py_object.from_address(id(proxy) + 16).value
space["bit_length"] = lambda self: "poisoned"

#: poison_recursion_limit -> ok
sys.setrecursionlimit(50)

#: poison_recursion_limit_up -> killed|exception|memory|timeout time=0.5 memory=8
sys.setrecursionlimit(10**9)
def f(): return f()
f()

#: poison_switches -> ok
sys.flags, sys.hash_info = None, None
sys.setswitchinterval(1000)
sys.set_int_max_str_digits(0)
sys.dont_write_bytecode = False

#: hooks -> ok
sys.settrace(lambda *a: None)
sys.setprofile(lambda *a: None)
sys.addaudithook(lambda *a: None)
sys.excepthook = sys.unraisablehook = lambda *a: print("ESCAPED")

#: audit_hook_that_raises -> exception|killed|ok
def hook(*event): raise RuntimeError
sys.addaudithook(hook)
exec("1")

#: trace_into_the_harness -> ok|exception|killed
def trace(frame, event, argument):
    frame.f_trace_opcodes = True
    return trace
sys.settrace(trace)
frame = sys._getframe()
while frame:
    frame.f_trace = trace
    frame = frame.f_back

#: stdout_replaced -> ok prints=
class Evil:
    def write(self, text): raise ValueError
    def flush(self): raise KeyboardInterrupt
sys.stdout = sys.stderr = Evil()

#: stdout_gone -> ok
del sys.stdout
sys.stderr = None

#: stdout_closed -> ok
sys.stdout.close()

#: stdout_detached -> ok
sys.stdout.detach()

#: exit_zero -> ok
raise SystemExit

#: exit_by_name -> ok
exit(0)

#: exit_with_status -> exception
raise SystemExit(3)

#: exit_with_text -> exception
exit("no")

#: exit_with_nonsense -> exception
raise SystemExit(b"\xff" * 100)

#: exit_with_large_status -> exception
raise SystemExit(1 << 80)

#: interrupt -> exception
raise KeyboardInterrupt

#: bare_base_exception -> exception
class Mine(BaseException): pass
raise Mine("x")

#: exception_whose_text_fails -> exception
class Mine(Exception):
    def __str__(self): raise SystemExit(0)
    __repr__ = __str__
raise Mine

#: exception_whose_text_is_endless -> timeout time=0.1
class Mine(Exception):
    def __str__(self):
        while True: pass
raise Mine

#: exception_with_mega_text -> exception
raise ValueError("x" * 5_000_000)

#: exception_with_evil_class -> exception|killed
class Meta(type):
    def __getattribute__(self, name): raise MemoryError
class Mine(Exception, metaclass=Meta): pass
raise Mine

#: exception_chain_in_a_circle -> exception
a, b = ValueError(1), ValueError(2)
a.__context__, b.__cause__ = b, a
raise a

#: exception_chain_of_thousands -> exception|memory|killed|timeout time=0.3
error = None
for each in range(20000):
    new = ValueError(each)
    new.__context__ = error
    error = new
raise error

#: exception_group_of_many -> exception|memory|killed
group = ValueError(1)
for each in range(500):
    group = ExceptionGroup("x", [group, ValueError(each)])
raise group

#: exception_with_notes_of_nonsense -> exception
error = ValueError(1)
error.__notes__ = [1, None, b"\xff", "\ud800"]
raise error

#: syntax_error_of_its_own -> exception
raise SyntaxError("x", ("/etc/passwd", 1, 1, "y", 10**9, -1))

#: memory_error_of_its_own -> memory
raise MemoryError("x")

#: import_error_of_its_own -> import
raise ImportError("x")

#: surrogates_in_an_exception -> exception
raise ValueError("a\ud800b")

#: deleters -> ok
class Evil:
    def __del__(self):
        while False: pass
        raise ValueError
kept = [Evil() for each in range(10)]

#: deleter_that_resurrects -> ok
class Evil:
    def __del__(self):
        global kept
        kept = self
Evil()

#: weak_references_and_cycles -> ok
class Node: pass
for each in range(1000):
    a, b = Node(), Node()
    a.b, b.a = b, a

#: async_code -> ok prints=fine
async def f(): return "fine"
try:
    f().send(None)
except StopIteration as error:
    print(error.value)

#: metaclass_and_descriptors -> ok prints=fine
class Meta(type):
    def __call__(cls, *a): return "fine"
class A(metaclass=Meta): pass
print(A())

#: pickle_like_reduce -> ok prints=blocked
class Evil:
    def __reduce__(self): return sys.modules["os"].system, ("id",)
action, arguments = Evil().__reduce__()
print("blocked" if action(*arguments) else "ESCAPED")

#: heap_of_earlier_calls -> ok|killed
# A trace of another call in memory, if there were one: PLAIN's own source.
ctypes = sys.modules["ctypes"]
sbrk = ctypes.CDLL(None).sbrk
sbrk.restype, sbrk.argtypes = ctypes.c_void_p, (ctypes.c_long,)
end = sbrk(0)
heap = ctypes.string_at(end - (1 << 20), 1 << 20)
print("ESCAPED" if bytes(reversed(b")'taac' ,'b' ,'+a'(bus.er")) in heap else "nothing")
