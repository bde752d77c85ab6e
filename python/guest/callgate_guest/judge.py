"""How a run ended, in the guest's own words: finished, inspect, error or memory. The host decides
all other stops, and never by what was printed.
"""

import ast
import traceback

CODE = "<code>"
OURS = "<callgate>/"
INSPECT = 9
LONGEST = 16_000


def judge(error, raised, source):
    """The outcome of code that ended with `error` (or None), after `raised` MethodErrors."""
    if isinstance(error, SystemExit):
        status = error.code
        if status == INSPECT and type(status) is int:
            return {"stop": "inspect"}
        if status not in (None, 0):
            text = status if isinstance(status, str) else f"exited with status {status!r}"
            return {"stop": "error", "error": text}
        error = None
    if error is None:
        error = swallowed(raised, source)
    if error is None:
        return {"stop": "finished"}
    stop = "memory" if isinstance(error, MemoryError) else "error"
    return {"stop": stop, "error": describe(error), "line": line_of(error)}


def describe(error):
    """The traceback as Python prints it, without our own frames."""
    summary = traceback.TracebackException.from_exception(error, compact=True)
    _leave_out_ours(summary)
    text = "".join(summary.format())
    if isinstance(error, ModuleNotFoundError) and error.name:
        package = error.name.split(".")[0]
        text += f"[Only the operator can add packages: `callgate sandbox install {package}`]\n"
    if len(text) > LONGEST:
        text = f"{text[: LONGEST // 2]}\n[...]\n{text[-LONGEST // 2 :]}"
    return text


def _leave_out_ours(summary):
    while summary is not None:
        summary.stack[:] = [f for f in summary.stack if not f.filename.startswith(("<callgate", OURS))]
        for inner in getattr(summary, "exceptions", None) or ():
            _leave_out_ours(inner)
        summary = summary.__cause__ or summary.__context__


def line_of(error):
    if isinstance(error, SyntaxError) and error.filename == CODE:
        return error.lineno
    line = None
    for frame, number in traceback.walk_tb(error.__traceback__):
        if frame.f_code.co_filename == CODE:
            line = number
    return line


def swallowed(raised, source):
    """The first MethodError that nobody caught by name: a task, a thread or a bare `except` took it.

    Where an exception came to rest is the outermost frame of its traceback; it was caught by name
    if that line lies in a `try` with an `except MethodError` or a `with` that names it.
    """
    if not raised:
        return None
    spans = list(_spans(ast.parse(source)))
    for error in raised:
        trace = error.__traceback__
        while trace is not None and trace.tb_frame.f_code.co_filename != CODE:
            trace = trace.tb_next
        line = trace.tb_lineno if trace is not None else 0
        if not any(first <= line <= last for first, last in spans):
            return error
    return None


def _spans(tree):
    for node in ast.walk(tree):
        if isinstance(node, (ast.Try, ast.TryStar)):
            catching = [handler.type for handler in node.handlers if handler.type is not None]
        elif isinstance(node, (ast.With, ast.AsyncWith)):
            catching = [item.context_expr for item in node.items]
        else:
            continue
        if any(_names_it(expression) for expression in catching):
            last = node.body[-1]
            yield node.body[0].lineno, last.end_lineno or last.lineno


def _names_it(expression):
    return any(isinstance(n, ast.Name) and n.id == "MethodError" for n in ast.walk(expression))
