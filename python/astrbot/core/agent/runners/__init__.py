"""Runners of agents."""

from .base import AgentState, BaseAgentRunner

__all__ = ["AgentState", "BaseAgentRunner"]
