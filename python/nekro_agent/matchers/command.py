"""Older plugins import these from here."""

from nekro_agent.adapters.onebot_v11.matchers.command import command_guard, finish_with, on_command

__all__ = ["command_guard", "finish_with", "on_command"]
