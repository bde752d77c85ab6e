import functools


def retry(times):
    def decorate(function):
        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            for attempt in range(1, times + 1):
                try:
                    return function(*args, **kwargs)
                except ValueError as error:
                    print(f"attempt {attempt}: {error}")
            raise RuntimeError("gave up")
        return wrapper
    return decorate


calls = 0


@retry(times=3)
def flaky(limit):
    """Fails a few times."""
    global calls
    calls += 1
    if calls < limit:
        raise ValueError(f"call {calls}")
    return calls


print(flaky(3), flaky.__name__, flaky.__doc__)
try:
    calls = 0
    flaky(10)
except RuntimeError as error:
    print("error:", error, "<-", type(error.__context__).__name__)


@functools.lru_cache(maxsize=None)
def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


print(fib(90), fib.cache_info())


@functools.singledispatch
def show(value):
    return f"thing {value}"


@show.register
def _(value: list):
    return f"list of {len(value)}"


print(show(1), show([1, 2]), functools.reduce(lambda a, b: a * b, range(1, 6)), functools.partial(int, base=2)("101"))
