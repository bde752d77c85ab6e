"""AgentDojo's suites as they are published: tasks, environments, injected texts.

Imports no model SDK: a bare package stands in for `agentdojo.agent_pipeline`, whose own `__init__`
would import all of them to drive real models, which nothing here does; so does `rich`, of which
AgentDojo wants a progress bar.
"""

import functools
import importlib.machinery
import importlib.util
import sys
from types import ModuleType

import yaml
from pydantic import networks

BENCHMARK = "v1.2.2"
"""The newest one that the package ships."""


def _stand_in(name: str, path: list[str] | None = None, **names: object) -> None:
    module = ModuleType(name)
    module.__spec__ = importlib.machinery.ModuleSpec(name, None, is_package=path is not None)
    if path is not None:
        module.__path__ = path
    vars(module).update(names)
    sys.modules[name] = module


def _without_sdks() -> None:
    found = importlib.util.find_spec("agentdojo")
    if found is None or not found.submodule_search_locations:
        raise SystemExit("error: agentdojo is not installed\nhint: run `make agentdojo`")
    [root] = found.submodule_search_locations
    _stand_in("agentdojo.agent_pipeline", [f"{root}/agent_pipeline"])
    _stand_in("agentdojo.agent_pipeline.llms", [])
    _stand_in("agentdojo.agent_pipeline.llms.google_llm", EMPTY_FUNCTION_NAME="<empty-function>")
    _stand_in("agentdojo.logging", Logger=object)
    _stand_in("rich", [])
    _stand_in("rich.progress", track=iter)


_without_sdks()
# Environments are read again for every run: by libyaml, and with each address looked at once.
yaml.safe_load = lambda text: yaml.load(text, yaml.CSafeLoader)
networks.validate_email = functools.cache(networks.validate_email)

from agentdojo.agent_pipeline.base_pipeline_element import BasePipelineElement  # noqa: E402
from agentdojo.agent_pipeline.tool_execution import tool_result_to_str  # noqa: E402
from agentdojo.attacks.baseline_attacks import DirectAttack  # noqa: E402
from agentdojo.base_tasks import BaseInjectionTask, BaseUserTask  # noqa: E402
from agentdojo.functions_runtime import FunctionCall, FunctionsRuntime  # noqa: E402
from agentdojo.task_suite.load_suites import get_suites  # noqa: E402
from agentdojo.task_suite.task_suite import TaskSuite  # noqa: E402

__all__ = [
    "BENCHMARK", "BaseInjectionTask", "BaseUserTask", "Direct", "FunctionCall", "FunctionsRuntime",
    "SUITES", "TaskSuite", "tool_result_to_str",
]

SUITES: dict[str, TaskSuite] = get_suites(BENCHMARK)


class _Nobody(BasePipelineElement):
    """The pipeline under attack, which the text of a direct attack does not depend on."""

    def query(self, *_: object, **__: object) -> None:  # type: ignore[override]
        raise NotImplementedError


class Direct(DirectAttack):
    """AgentDojo's direct attack: the goal itself, wherever the user's task would read it."""

    def __init__(self, suite: TaskSuite) -> None:
        super().__init__(suite, _Nobody())
