"""Looks at the code of a tool without running it: whether it compiles, its function, and its imports."""

import ast
import sys

import guest
import report

MAX_LISTED = 20
MAX_PARAMETERS = 200
MAX_MESSAGE_CHARACTERS = 500

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
SCOPES = (*FUNCTIONS, ast.ClassDef)
BLOCKS = ("body", "handlers", "orelse", "finalbody", "cases")

# What code on files can import besides the standard library: what its authors should use, and what comes along.
PACKAGES = ("covalt_toolset", "pydantic")
MORE_PACKAGES = ("annotated_types", "pydantic_core", "typing_extensions", "typing_inspection", "tzdata")

# Code that uses one of these may define a function that its source does not show.
HIDING = {"eval", "exec", "globals", "locals", "vars"}


def run(request):
    """Returns a report, as JSON. Its `fault` is the reason why the code does not compile."""
    code, wanted = request["code"], request["check"]
    told = {"fault": None, "function": None, "functions": [], "parameters": None, "only_prints": False, "imports": []}
    on_files = request.get("files", False)
    told["importable"] = PACKAGES if on_files else guest.ALLOWED
    if on_files:
        told["standard_library"] = True
    try:
        report.compile_source(code)
    except report.BadSource as error:
        told["fault"] = _fault(error.__cause__)
        return report.as_json("check", told)
    try:
        told.update(_seen(code, wanted, _is_on_files if on_files else guest.may_import))
    except (MemoryError, RecursionError):
        pass  # The tree of the code takes far more memory than the code. The code itself may run well.
    return report.as_json("check", told)


def _fault(error):
    line = getattr(error, "lineno", None)
    text = error.msg if isinstance(error, SyntaxError) else str(error)
    return {"line": line or None, "message": f"{type(error).__name__}: {text}"[:MAX_MESSAGE_CHARACTERS]}


def _is_on_files(name):
    """Whether code on files can import a module. Modules of a bundle are not known here."""
    top = name.partition(".")[0]
    return top in sys.stdlib_module_names or top in (*PACKAGES, *MORE_PACKAGES)


def _seen(code, wanted, may_import):
    tree = ast.parse(code, report.FILENAME)
    imports, defined, bound = {}, {}, set()
    for node, is_top in _statements(tree):
        for name in _imported(node):
            if not may_import(name):
                imports.setdefault(name, node.lineno)
        if isinstance(node, ast.Global):
            bound.update(node.names)
        elif is_top and isinstance(node, SCOPES):
            defined[node.name] = node
        elif is_top:
            bound.update(_bound(node))
    is_there = wanted in defined or wanted in bound or (None if _hides(tree, wanted) else False)
    function = None if wanted in bound else defined.get(wanted)
    return {
        "function": is_there,
        "functions": [name for name, node in defined.items() if not isinstance(node, ast.ClassDef)][:MAX_LISTED],
        "parameters": _parameters(function),
        "only_prints": _only_prints(function),
        "imports": [{"name": name, "line": line} for name, line in imports.items()][:MAX_LISTED],
    }


def _statements(tree):
    """Every statement in the order of the source, and whether it is at the top: in no function and no class."""
    left = [(tree, True)]
    while left:
        node, is_top = left.pop()
        yield node, is_top
        is_top = is_top and not isinstance(node, SCOPES)
        blocks = (getattr(node, name, ()) for name in BLOCKS)
        left.extend(reversed([(child, is_top) for block in blocks for child in block]))


def _imported(node):
    """The modules that a statement imports."""
    if isinstance(node, ast.Import):
        return [each.name for each in node.names]
    if isinstance(node, ast.ImportFrom):
        return ["." * node.level + (node.module or "")]
    return []


def _bound(node):
    """The names that a statement binds, other than by a definition."""
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return {each.asname or each.name.partition(".")[0] for each in node.names}
    targets = [*getattr(node, "targets", ()), getattr(node, "target", None)]
    targets += [each.optional_vars for each in getattr(node, "items", ())]
    found = (each for target in targets if target is not None for each in ast.walk(target))
    return {each.id for each in found if isinstance(each, ast.Name)}


def _hides(tree, wanted):
    """Whether the code may define the function although no statement of the code does."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and (node.id in HIDING or node.id == wanted and isinstance(node.ctx, ast.Store)):
            return True
        if isinstance(node, ast.ImportFrom) and any(each.name == "*" for each in node.names):
            return True
    return False


def _parameters(function):
    """The parameters of a plain function, as `guest` tells them apart, unless they are very many.

    A decorator may change the parameters, so those of a decorated function are unknown.
    """
    if not isinstance(function, FUNCTIONS) or function.decorator_list:
        return None
    given = function.args
    positional = [each.arg for each in (*given.posonlyargs, *given.args)]
    named = [each.arg for each in given.kwonlyargs]
    if len(positional) + len(named) > MAX_PARAMETERS:
        return None
    required = positional[: len(positional) - len(given.defaults)]
    required_names = [name for name, default in zip(named, given.kw_defaults) if default is None]
    return {
        "names": positional + named,
        "required": required + required_names,
        "takes_one": len(required) <= 1 and not required_names and bool(positional or given.vararg),
        "by_keyword": not given.posonlyargs and given.vararg is None,
        "takes_all": given.kwarg is not None,
    }


def _only_prints(function):
    """Whether a plain function prints, and has no statement that returns a value."""
    if not isinstance(function, FUNCTIONS) or function.decorator_list:
        return False
    prints = False
    for node in _own_nodes(function):
        if isinstance(node, (ast.Yield, ast.YieldFrom)) or isinstance(node, ast.Return) and node.value is not None:
            return False
        called = node.func if isinstance(node, ast.Call) else None
        prints = prints or isinstance(called, ast.Name) and called.id == "print"
    return prints


def _own_nodes(function):
    """The nodes of a function's body, without those of functions and classes inside it."""
    left = list(function.body)
    while left:
        node = left.pop()
        yield node
        if not isinstance(node, (*SCOPES, ast.Lambda)):
            left.extend(ast.iter_child_nodes(node))
