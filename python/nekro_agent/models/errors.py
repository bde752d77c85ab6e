"""What queries raise: Tortoise's own classes, for those who imported them and may catch them."""

import sys


class OperationalError(Exception):
    """The query cannot be run."""


class FieldError(OperationalError):
    """There is no such column or lookup."""


class DoesNotExist(OperationalError):
    """No row was found where one was wanted."""


class MultipleObjectsReturned(OperationalError):
    """Several rows were found where one was wanted."""


def error(kind: type[Exception], message: str) -> Exception:
    """An error to raise. Tortoise is slow to import, so it is used only where a plugin has."""
    theirs = sys.modules.get("tortoise.exceptions")
    return getattr(theirs, kind.__name__, kind)(message)
