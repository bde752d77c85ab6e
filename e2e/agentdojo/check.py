"""The manifest against the suites: it speaks of every function and of no other, of parameters that there are, and
trusts no result in which a stranger's words were seen."""

from collections.abc import Iterator

import goals
from suites import SUITES, Direct, TaskSuite
from world import MANIFEST, World

KINDS = {"recipient", "path", "command", "url"}


def faults() -> Iterator[str]:
    written = MANIFEST["functions"]
    functions = {function.name: function for suite in SUITES.values() for function in suite.tools}
    for name in written.keys() ^ functions.keys():
        yield f"{name} is in the manifest or in the suites, not in both"
    for name, declared in written.items():
        chosen = declared.get("chooses", {})
        for parameter in chosen.keys() - functions[name].parameters.model_fields.keys():
            yield f"{name} has no parameter {parameter}"
        for kind in set(chosen.values()) - KINDS:
            yield f"{name}: {kind} is no kind of choice"
    for suite in SUITES.values():
        for name in sorted(_showing(suite)):
            if written[name].get("trusted"):
                yield f"{name} is trusted, and shows what strangers wrote"


def _showing(suite: TaskSuite) -> set[str]:
    """The functions that show an injected text in any task, of the person or of an attacker."""
    canaries = Direct(suite).canary_injections
    first, *_ = suite.user_tasks.values()
    showing = set()
    for task in [*suite.user_tasks.values(), *suite.injection_tasks.values()]:
        world = World(suite, first, None, suite.load_and_inject_default_environment(canaries))
        for call in goals.calls(suite.name, task, world.environment):
            text, _ = world.call(call.function, dict(call.args))
            if "CANARY" in text:
                showing.add(call.function)
    return showing
