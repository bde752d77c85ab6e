import contextlib
import io


class Timer:
    def __enter__(self):
        print("enter")
        return self

    def __exit__(self, kind, value, trace):
        print("exit", kind.__name__ if kind else None)
        return kind is KeyError


with Timer():
    raise KeyError("swallowed")


@contextlib.contextmanager
def tag(name):
    print(f"<{name}>")
    try:
        yield name.upper()
    finally:
        print(f"</{name}>")


with tag("ul") as outer, tag("li"):
    print(outer)
with contextlib.redirect_stdout(io.StringIO()) as captured:
    print("hidden")
print(repr(captured.getvalue()))
with contextlib.ExitStack() as stack:
    for n in range(3):
        stack.callback(print, "callback", n)
with contextlib.suppress(ZeroDivisionError):
    1 / 0
try:
    with open("shared/nothing-here"):
        pass
except FileNotFoundError as error:
    print(error.strerror, error.filename)
