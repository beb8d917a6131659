# Tools: contexts, annotations, arguments.
import dataclasses, datetime, enum, os, pathlib, sys, typing
import pydantic
import covalt_toolset
from covalt_toolset import ToolContext, clear_context, get_context, set_context, tool

#: context_while_the_code_is_loaded -> exception
get_context()

#: context_of_a_call -> ok result=["c","t",{"a":[1]}] with={"context":{"chat_id":"c","toolset_id":"t","extra":{"a":[1]}}}
def run():
    context = get_context()
    return [context.chat_id, context.toolset_id, context.extra]

#: context_of_nobody -> ok result=["",null,{}]
def run():
    context = get_context()
    return [context.chat_id, context.toolset_id, context.extra]

#: context_set_to_another_workspace -> ok prints=blocked
def run():
    set_context(ToolContext(workspace="/etc", chat_id="other"))
    try:
        print("ESCAPED", (get_context().workspace / "passwd").read_text())
    except OSError:
        print("blocked")

#: context_set_while_the_code_is_loaded -> ok result="c" with={"context":{"chat_id":"c"}}
set_context(ToolContext(workspace="/", chat_id="forged"))
def run(): return get_context().chat_id

#: context_cleared -> exception
def run():
    clear_context()
    get_context()

#: context_of_nonsense -> exception
def run(): set_context(1)

#: context_that_is_kept -> ok with={"context":{"chat_id":"kept","extra":{"secret":1}}}
kept = []
def run(): kept.append(get_context())

#: workspace_is_the_directory -> ok result=[true,true]
def run(workspace: pathlib.Path): return [str(workspace) == os.getcwd(), isinstance(workspace, pathlib.Path)]

#: workspace_as_text -> ok result=true
def run(workspace: str): return workspace == os.getcwd()

#: workspace_cannot_be_given -> ok|exception with={"arguments":{"workspace":"/etc"}}
def run(workspace: pathlib.Path):
    if str(workspace) == "/etc": print("ESCAPED")

#: annotation_that_runs_code -> ok|exception|timeout time=2
def run(x: "print('ran') or __import__('os')._exit" = 1): return 1

#: annotation_that_loops -> timeout time=0.5
class Meta(type):
    def __instancecheck__(self, other):
        while True: pass
    def __getattr__(self, name):
        while True: pass
class Evil(metaclass=Meta): pass
def run(x: Evil = 1): return 1

#: annotation_that_ends_the_process -> killed
class Evil:
    @classmethod
    def __get_pydantic_core_schema__(cls, *a): os._exit(0)
def run(x: Evil): return 1

#: annotation_that_raises -> exception with={"arguments":{"x":1}}
class Evil:
    @classmethod
    def __get_pydantic_core_schema__(cls, *a): raise SystemExit(0)
def run(x: Evil): return 1

#: annotation_that_is_no_type -> ok|exception with={"arguments":{"x":1}}
def run(x: [1, 2, "ESCAPE"]): return 1

#: annotation_in_a_circle -> ok|exception with={"arguments":{"x":{"next":{"next":null}}}} result=2
class Node(pydantic.BaseModel):
    next: "Node | None" = None
def run(x: Node): return 2 if x.next.next is None else 0

#: annotation_of_great_depth -> ok|exception|killed|memory time=3
hint = int
for each in range(2000): hint = list[hint]
def run(x: hint = None): return 1

#: annotation_of_a_regular_expression -> exception|timeout|ok time=1 with={"arguments":{"x":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab"}}
def run(x: typing.Annotated[str, pydantic.Field(pattern=r"^(a+)+$")]): return 1

#: decorator_with_nonsense -> exception
@tool(name=1)
def run(): pass

#: decorator_that_lies -> ok result=1
@tool(name="x" * 100000, description="y" * 100000)
def run(): return 1

#: decorated_by_others -> ok|exception
def evil(function):
    class Callable:
        def __call__(self, *a, **k): return 1
        __signature__ = property(lambda self: 1 / 0)
    return Callable()
@tool
@evil
def run(): pass

#: function_that_is_no_function -> exception|ok
class Run:
    def __call__(self): return 1
    __signature__ = "nonsense"
    __wrapped__ = property(lambda self: self)
globals()["run"] = Run()
def run(): pass
run = Run()

#: function_wrapped_in_a_circle -> ok|exception|timeout time=2
def run(): return 1
run.__wrapped__ = run

#: arguments_as_instances -> ok result=["Point","Color","date","PosixPath","Data"] with={"arguments":{"point":{"x":"1"},"color":"red","day":"2024-02-29","path":"a","data":{"y":2}}}
class Point(pydantic.BaseModel):
    x: int
class Color(enum.Enum):
    red = "red"
@dataclasses.dataclass
class Data:
    y: int
def run(point: Point, color: Color, day: datetime.date, path: pathlib.Path, data: Data):
    return [type(each).__name__ for each in (point, color, day, path, data)]

#: arguments_that_do_not_fit -> exception with={"arguments":{"x":"many"}}
def run(x: int): print("ESCAPED")

#: arguments_that_are_missing -> exception
def run(x: int): print("ESCAPED")

#: arguments_that_nobody_wants -> exception with={"arguments":{"y":1}}
def run(): print("ESCAPED")

#: arguments_of_dunders -> exception|ok with={"arguments":{"__class__":1,"self":2,"cls":3}}
def run(**rest): return sorted(rest)

#: arguments_with_a_validator -> ok|exception prints=blocked with={"arguments":{"x":{"y":1}}}
class Evil(pydantic.BaseModel):
    y: int
    @pydantic.field_validator("y")
    @classmethod
    def check(cls, value):
        try:
            print("ESCAPED", open("/etc/passwd").read())
        except OSError:
            print("blocked")
        return value
def run(x: Evil): return 1

#: arguments_deeply_nested -> ok|exception with={"arguments":{"x":[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]}}
def run(x: list): return 1
