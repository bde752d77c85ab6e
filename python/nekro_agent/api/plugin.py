"""What a plugin is made of."""

from nekro_agent.core.core_utils import ExtraField
from nekro_agent.services.command.base import CommandPermission
from nekro_agent.services.command.ctl import CmdCtl
from nekro_agent.services.command.group import CommandGroup
from nekro_agent.services.command.schemas import Arg, CommandExecutionContext, CommandResponse
from nekro_agent.services.plugin.base import ConfigBase, NekroPlugin, PluginStore
from nekro_agent.services.plugin.packages import dynamic_import_pkg
from nekro_agent.services.plugin.schema import SandboxMethod, SandboxMethodType
from nekro_agent.services.plugin.task import AsyncTaskHandle, TaskCtl, TaskRunner, TaskSignal, task

__all__ = [
    "Arg", "AsyncTaskHandle", "CmdCtl", "CommandExecutionContext", "CommandGroup",
    "CommandPermission", "CommandResponse", "ConfigBase", "ExtraField", "NekroPlugin", "PluginStore",
    "SandboxMethod", "SandboxMethodType", "TaskCtl", "TaskRunner", "TaskSignal",
    "dynamic_import_pkg", "task",
]
