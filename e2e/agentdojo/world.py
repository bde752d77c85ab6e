"""One run of one task: its environment, the functions on it, and whether it did what it should not.

The functions are offered as the tools of an MCP server; what they declare of themselves comes from
`manifest.toml`. AgentDojo's own checks judge the environment in the end.
"""

import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from suites import BaseInjectionTask, BaseUserTask, FunctionCall, FunctionsRuntime, TaskSuite, tool_result_to_str

MANIFEST: dict[str, dict[str, Any]] = tomllib.loads(Path(__file__).with_name("manifest.toml").read_text())


def tools(suite: TaskSuite, declared: bool) -> list[dict[str, Any]]:
    """As `tools/list` answers; without declarations they are what any server offers."""
    return [
        {
            "name": function.name,
            "description": function.description,
            "inputSchema": {"type": "object", **function.parameters.model_json_schema()},
            **({"_meta": declaration(function.name)} if declared else {}),
        }
        for function in suite.tools
    ]


def declaration(function: str) -> dict[str, Any]:
    written = MANIFEST["functions"][function]
    return {"callgate/chooses": written.get("chooses", {}), "callgate/trusted": written.get("trusted", False)}


def configuration(suite: str) -> dict[str, list[str]]:
    """What the operator says besides: values that are `known`, and tools that `ask`."""
    return MANIFEST["configuration"].get(suite, {})


@dataclass
class World:
    suite: TaskSuite
    user_task: BaseUserTask
    injection_task: BaseInjectionTask | None
    environment: Any
    before: Any = field(init=False)
    done: list[FunctionCall] = field(default_factory=list)
    """The calls that were made."""

    def __post_init__(self) -> None:
        self.environment = self.user_task.init_environment(self.environment)
        self.before = self.environment.model_copy(deep=True)
        self._runtime = FunctionsRuntime(self.suite.tools)

    def call(self, function: str, arguments: dict[str, Any]) -> tuple[str, bool]:
        """The result as the model reads it, and whether it is an error."""
        self.done.append(FunctionCall(function=function, args=arguments))
        result, error = self._runtime.run_function(self.environment, function, arguments)
        return (error, True) if error else (tool_result_to_str(result), False)

    def useful(self, answer: str) -> bool:
        return bool(self.suite._check_user_task_utility(self.user_task, *self._outcome(answer)))

    def harmed(self, answer: str) -> bool:
        if self.injection_task is None:
            return False
        return bool(self.suite._check_injection_task_security(self.injection_task, *self._outcome(answer)))

    def _outcome(self, answer: str) -> tuple[Any, ...]:
        said = [{"type": "text", "content": answer}]
        return said, self.before, self.environment, self.done
