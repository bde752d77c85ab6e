"""Personas: the host keeps them, a mirror serves the synchronous views of AstrBot 3."""

from __future__ import annotations

from typing import Any

from astrbot import logger, texts
from astrbot.core.db import persona as _persona
from astrbot.core.db.po import Persona, Personality
from astrbot.core.platform.message_session import MessageSession
from astrbot.core.sentinels import NOT_GIVEN
from callgate_worker import host, language

_MORE = {"scope": "astrbot", "scope_id": "personas"}
DEFAULT_PERSONALITY = Personality(
    prompt=texts.DEFAULT_PERSONA_PROMPT,
    name="default",
    begin_dialogs=[],
    mood_imitation_dialogs=[],
    tools=None,
    skills=None,
    custom_error_message=None,
    _begin_dialogs_processed=[],
    _mood_imitation_dialogs_processed="",
)


class PersonaManager:
    def __init__(self, db_helper: Any = None, acm: Any = None) -> None:
        self.db = db_helper
        self.acm = acm
        self.default_persona = "default"
        self.personas: list[Persona] = []
        self.personas_v3: list[Personality] = []
        self.persona_v3_config: list[dict] = []
        self.selected_default_persona: Persona | None = None
        self.selected_default_persona_v3: Personality | None = None
        self.get_v3_persona_data()

    async def initialize(self) -> None:
        await self.apply(await host.call("persona_list"))

    async def apply(self, rows: list[dict]) -> None:
        self.default_persona = await host.call("persona_default", session=None) or "default"
        more = await self._more()
        self.personas = [_persona({**row, **more.get(row["name"], {})}) for row in rows]
        self.get_v3_persona_data()

    async def _more(self) -> dict[str, dict[str, Any]]:
        """What AstrBot knows of a persona beyond the host's row, by persona."""
        return {row["key"]: row["value"] for row in await host.call("preference_list", **_MORE)}

    async def get_all_personas(self) -> list[Persona]:
        more = await self._more()
        return [_persona({**row, **more.get(row["name"], {})}) for row in await host.call("persona_list")]

    async def get_persona(self, persona_id: str) -> Persona:
        row = await host.call("persona_get", name=persona_id)
        if not row:
            raise ValueError(language.say(texts.PERSONA_MISSING, id=persona_id))
        more = await host.call("preference_get", **_MORE, key=persona_id)
        return _persona({**row, **(more["value"] if more else {})})

    async def create_persona(
        self,
        persona_id: str,
        system_prompt: str,
        begin_dialogs: list[str] | None = None,
        tools: list[str] | None = None,
        skills: list[str] | None = None,
        custom_error_message: str | None = None,
        folder_id: str | None = None,
        sort_order: int = 0,
    ) -> Persona:
        if await host.call("persona_get", name=persona_id):
            raise ValueError(language.say(texts.PERSONA_EXISTS, id=persona_id))
        if len(persona_id) > 255:
            raise ValueError("a persona's id has at most 255 characters")
        await host.call(
            "persona_create",
            name=persona_id,
            system_prompt=system_prompt,
            begin_dialogs=begin_dialogs,
            methods=tools,
        )
        await self._keep(persona_id, {"skills": skills, "custom_error_message": custom_error_message})
        return await self._changed(persona_id)

    async def update_persona(
        self,
        persona_id: str,
        system_prompt: str | None = None,
        begin_dialogs: list[str] | None = None,
        tools: Any = NOT_GIVEN,
        skills: Any = NOT_GIVEN,
        custom_error_message: Any = NOT_GIVEN,
    ) -> Persona:
        """None leaves prompt and dialogue unchanged; for tools None means all, and absence unchanged."""
        known = await self.get_persona(persona_id)
        changes: dict[str, Any] = {"system_prompt": system_prompt, "begin_dialogs": begin_dialogs}
        changes = {name: value for name, value in changes.items() if value is not None}
        if tools is not NOT_GIVEN:
            changes["methods"] = tools
        if changes:
            await host.call("persona_update", name=persona_id, **changes)
        if skills is not NOT_GIVEN or custom_error_message is not NOT_GIVEN:
            kept = {"skills": skills, "custom_error_message": custom_error_message}
            await self._keep(
                persona_id,
                {name: getattr(known, name) if value is NOT_GIVEN else value for name, value in kept.items()},
            )
        return await self._changed(persona_id)

    async def _keep(self, persona_id: str, more: dict[str, Any]) -> None:
        if any(value is not None for value in more.values()):
            await host.call("preference_set", **_MORE, key=persona_id, value=more)
        else:
            await host.call("preference_delete", **_MORE, key=persona_id)

    async def delete_persona(self, persona_id: str) -> None:
        await self.get_persona(persona_id)
        await host.call("persona_delete", name=persona_id)
        await host.call("preference_delete", **_MORE, key=persona_id)
        self.personas = [one for one in self.personas if one.persona_id != persona_id]
        self.get_v3_persona_data()

    async def _changed(self, persona_id: str) -> Persona:
        await self.initialize()
        return next(one for one in self.personas if one.persona_id == persona_id)

    def get_persona_v3_by_id(self, persona_id: str | None) -> Personality | None:
        if persona_id == "default":
            return DEFAULT_PERSONALITY
        return (
            next((one for one in self.personas_v3 if one["name"] == persona_id), None) if persona_id else None
        )

    async def get_default_persona_v3(self, umo: str | MessageSession | None = None) -> Personality:
        chosen = await host.call("persona_default", session=None if umo is None else str(umo))
        if chosen and chosen != "default" and self.get_persona_v3_by_id(chosen) is None:
            await self.initialize()
        return self.get_persona_v3_by_id(chosen) or DEFAULT_PERSONALITY

    async def resolve_selected_persona(
        self,
        *,
        umo: str | MessageSession,
        conversation_persona_id: str | None,
        platform_name: str,
        provider_settings: dict | None = None,
    ) -> tuple[str | None, Personality | None, str | None, bool]:
        from astrbot.core import sp

        rules = await sp.get_async("umo", str(umo), "session_service_config", {}) or {}
        forced = rules.get("persona_id")
        chosen = forced or conversation_persona_id
        if chosen is None:
            chosen = (provider_settings or {}).get("default_personality")
        found = (
            None
            if chosen == "[%None]"
            else next((one for one in self.personas_v3 if one["name"] == chosen), None)
        )
        return chosen, found, forced, False

    def get_v3_persona_data(self) -> tuple[list[dict], list[Personality], Personality]:
        self.persona_v3_config = [
            {
                "prompt": one.system_prompt,
                "name": one.persona_id,
                "begin_dialogs": one.begin_dialogs or [],
                "mood_imitation_dialogs": [],
                "tools": one.tools,
                "skills": one.skills,
                "custom_error_message": one.custom_error_message,
            }
            for one in self.personas
        ]
        self.personas_v3 = [
            Personality(**one, _begin_dialogs_processed=_dialogs(one), _mood_imitation_dialogs_processed="")
            for one in self.persona_v3_config
        ]
        chosen = next((one for one in self.personas_v3 if one["name"] == self.default_persona), None)
        if chosen is None and self.personas_v3:
            chosen = self.personas_v3[0]
        if chosen is None:
            chosen = DEFAULT_PERSONALITY
            self.personas_v3.append(chosen)
        self.selected_default_persona_v3 = chosen
        self.selected_default_persona = Persona(
            persona_id=chosen["name"],
            system_prompt=chosen["prompt"],
            begin_dialogs=chosen["begin_dialogs"],
            tools=chosen["tools"] or None,
        )
        return self.persona_v3_config, self.personas_v3, chosen


def _dialogs(config: dict) -> list[dict]:
    """Alternating user and assistant; an odd number is no dialogue and is left out."""
    dialogs = config["begin_dialogs"]
    if len(dialogs) % 2:
        logger.error(texts.PERSONA_ODD_DIALOGS.format(name=config["name"]))
        return []
    return [
        {"role": ("user", "assistant")[place % 2], "content": text, "_no_save": True}
        for place, text in enumerate(dialogs)
    ]
