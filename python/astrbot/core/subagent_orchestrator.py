"""Sub-agents named in the configuration, each offered as a handoff tool."""

from __future__ import annotations

import copy
from typing import Any

from astrbot import logger, texts
from astrbot.core.agent.agent import Agent
from astrbot.core.agent.handoff import HandoffTool


class SubAgentOrchestrator:
    def __init__(self, tool_mgr: Any, persona_mgr: Any) -> None:
        self._tool_mgr = tool_mgr
        self._persona_mgr = persona_mgr
        self.handoffs: list[HandoffTool] = []

    async def reload_from_config(self, cfg: dict[str, Any]) -> None:
        agents = cfg.get("agents", [])
        if not isinstance(agents, list):
            logger.warning(texts.AGENTS_NOT_A_LIST)
            return
        self.handoffs = [
            self._handoff(item)
            for item in agents
            if isinstance(item, dict) and item.get("enabled", True) and str(item.get("name", "")).strip()
        ]

    def _handoff(self, item: dict[str, Any]) -> HandoffTool:
        """A persona, where one is named, decides prompt, opening dialogue and tools."""
        agent = Agent(
            str(item["name"]).strip(), str(item.get("system_prompt", "")).strip(), item.get("tools", [])
        )
        described = str(item.get("public_description", "")).strip()
        persona_id = str(item.get("persona_id") or "").strip()
        persona = self._persona_mgr.get_persona_v3_by_id(persona_id)
        if persona_id and persona is None:
            logger.warning(
                "sub-agent %s: there is no persona %s, its own prompt is used", agent.name, persona_id
            )
        if persona:
            agent.instructions = persona["prompt"].strip() or agent.instructions
            agent.begin_dialogs = copy.deepcopy(persona["_begin_dialogs_processed"])
            agent.tools = persona["tools"]
            described = described or (agent.instructions or "")[:120]
        if agent.tools is not None and not isinstance(agent.tools, list):
            agent.tools = []
        handoff = HandoffTool(agent, tool_description=described or None)
        handoff.provider_id = str(item.get("provider_id") or "").strip() or None
        return handoff
