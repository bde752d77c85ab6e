"""`python -m callgate_worker.packages`: what is installed in this interpreter, one per line as an
installer reads it. Given to the installer as constraints, it keeps what other plugins use.
"""

import importlib.metadata
import re


def installed() -> list[str]:
    found: dict[str, str] = {}
    for distribution in importlib.metadata.distributions():
        name = distribution.metadata["Name"]
        if name and distribution.version:
            # The first one on the path is the one that is imported.
            found.setdefault(re.sub(r"[-_.]+", "-", name).lower(), distribution.version)
    return [f"{name}=={version}" for name, version in sorted(found.items())]


if __name__ == "__main__":
    print("\n".join(installed()))
