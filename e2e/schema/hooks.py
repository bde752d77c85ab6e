"""How the tester sends bodies that are no JSON: as the bytes they are."""

from typing import Any

import schemathesis


@schemathesis.serializer("application/zip", "application/x-ndjson")
def raw(context: Any, value: Any) -> bytes:
    return value if isinstance(value, bytes) else str(value).encode()
