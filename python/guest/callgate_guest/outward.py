"""Values on their way from a plugin to the sandbox, where objects may go too: whole, as a pickle
that only the sandbox opens, where it has their class, and else as read-only records.

Used by plugin workers; the sandbox itself only sends toward the host, with `wire.dumps`.
"""

import dataclasses
import io
import pickle
import sys
import types

from .wire import CannotPass, Outgoing, dumps_plain, dumps_with, open_container


def dumps(value, root="result", packages=frozenset(), head=None):
    """Encode a value for the sandbox; `head` as in `wire.dumps`.

    `packages` are the top-level packages that the sandbox can import beyond the standard library.
    """
    body = dumps_plain(value, head)
    return body if body is not None else dumps_with(_OutgoingToSandbox(packages), value, root, head)


_BUILT_IN = (str, int, float, bytes, list, tuple, set, frozenset, dict)


class _OutgoingToSandbox(Outgoing):
    def __init__(self, packages):
        super().__init__()
        self.packages = packages

    def instance(self, value, place, depth):
        known = self.importable(type(value).__module__) or type(value) in (complex, range)
        if known and (pickled := self.pickle(value)) is not None:
            return (..., "opaque", (type(value).__name__, pickled))
        fields = _declared_fields(value)
        # The attributes of a plugin's own object are its fields; those of a built-in or a
        # library's object are its private matter.
        own = not known and not _is_of_a_library(type(value).__module__)
        if fields is None and own and hasattr(value, "__dict__") and not isinstance(value, _BUILT_IN):
            fields = [(name, item) for name, item in vars(value).items() if name[:1] != "_"]
        if fields is None:
            return super().instance(value, place, depth)
        if not fields and _has_state(value):
            # What it is lies in what is private, in slots or in C: an empty record would be
            # another thing of the same name.
            name = type(value).__name__
            raise CannotPass(f"{place}: cannot pass a '{name}': it has no public attributes")
        return self.record(value, fields, place, depth)

    def record(self, value, fields, place, depth):
        depth = open_container(place, depth)
        converted = tuple(
            [(name, self.convert(item, f"{place}.{name}", depth)) for name, item in fields]
        )
        return (..., "record", (type(value).__name__, converted))

    def importable(self, module):
        package = module.partition(".")[0]
        if package in ("builtins", "__main__"):
            return False
        return package in sys.stdlib_module_names or package in self.packages

    def pickle(self, value):
        """The pickle, or None where there is none that the sandbox could open."""
        stream = io.BytesIO()
        try:
            _SandboxPickler(stream, self.importable).dump(value)
        except Exception:  # Any class may raise anything from its own __reduce__.
            return None
        return stream.getvalue()


class _SandboxPickler(pickle.Pickler):
    """Refuses a pickle that names anything which the sandbox cannot import."""

    def __init__(self, stream, importable):
        super().__init__(stream, protocol=5)
        self.importable = importable

    def reducer_override(self, value):
        by_name = isinstance(value, (type, types.FunctionType, types.BuiltinFunctionType))
        module = (value if by_name else type(value)).__module__ or "builtins"
        if module != "builtins" and not self.importable(module):
            raise pickle.PicklingError(module)
        return NotImplemented


def _is_of_a_library(module):
    """Built in, or installed by somebody else than the plugin's author."""
    package = module.partition(".")[0]
    place = getattr(sys.modules.get(package), "__file__", None) or ""
    return package == "builtins" or "/site-packages/" in place or "/dist-packages/" in place


def _has_state(value):
    """Does it hold anything, in whatever form? As copies are made: state is what a copy needs."""
    kind = type(value)
    if getattr(value, "__pydantic_private__", None):
        return True
    if (kind.__reduce__, kind.__reduce_ex__) != (object.__reduce__, object.__reduce_ex__):
        return True
    try:
        _, arguments, state, *items = object.__reduce_ex__(value, 2)
    except Exception:  # Of something in C, or its own __getstate__ refuses.
        return True
    return bool(arguments[1:] or state or any(item is not None for item in items))


def _declared_fields(value):
    """(name, value) of the fields of a namedtuple, dataclass or pydantic model, or None."""
    kind = type(value)
    if isinstance(value, tuple):
        names = getattr(kind, "_fields", None)
    elif dataclasses.is_dataclass(kind):
        names = [field.name for field in dataclasses.fields(kind)]
    else:
        models = (getattr(kind, "model_fields", None), getattr(kind, "__fields__", None))
        names = next((fields for fields in models if isinstance(fields, dict)), None)
    return None if names is None else [(name, getattr(value, name)) for name in names]
