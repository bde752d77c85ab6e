"""The managers of conversations and personas, one operation a command; what was found is said as JSON."""

import json
from datetime import timedelta

from astrbot.api.event import AstrMessageEvent, filter
from astrbot.api.star import Star
from astrbot.core.conversation_mgr import Conversation
from astrbot.core.db.po import Persona
from astrbot.core.platform.message_session import MessageSession


def shown(persona: Persona) -> dict:
    return {
        "id": persona.id,
        "persona_id": persona.persona_id,
        "system_prompt": persona.system_prompt,
        "begin_dialogs": persona.begin_dialogs,
        "tools": persona.tools,
        "created_at": persona.created_at.timestamp(),
        "updated_at": persona.updated_at.timestamp(),
        "utc": [one.utcoffset() == timedelta(0) for one in (persona.created_at, persona.updated_at)],
    }


class Managers(Star):
    @filter.command("history")
    async def history(self, event: AstrMessageEvent):
        """As the guide reads the conversation that the session is in."""
        manager = self.context.conversation_manager
        umo = event.unified_msg_origin
        current = await manager.get_curr_conversation_id(umo)
        conversation = await manager.get_conversation(umo, current)
        assert isinstance(conversation, Conversation)
        found = [conversation.cid == current, conversation.user_id == umo, json.loads(conversation.history)]
        yield event.plain_result(json.dumps(found))

    @filter.command("begin")
    async def begin(self, event: AstrMessageEvent, umo: str, word: str):
        """A conversation, in which a word was said already."""
        said = [{"role": "user", "content": f"remember {word}"}, {"role": "assistant", "content": f"{word}, yes"}]
        yield event.plain_result(await self.context.conversation_manager.new_conversation(umo, content=said))

    @filter.command("switch")
    async def switch(self, event: AstrMessageEvent, conversation: str):
        manager = self.context.conversation_manager
        result = await manager.switch_conversation(event.unified_msg_origin, conversation)
        now = await manager.get_curr_conversation_id(event.unified_msg_origin)
        yield event.plain_result(json.dumps([result, now]))

    @filter.command("conversations")
    async def conversations(self, event: AstrMessageEvent):
        """All of them, those of one platform, and those of this session."""
        manager = self.context.conversation_manager
        asked = [(None, None), (None, "p"), (None, "q"), (None, "nowhere"), (event.unified_msg_origin, None)]
        found = [[one.cid for one in await manager.get_conversations(*filters)] for filters in asked]
        yield event.plain_result(json.dumps(found))

    @filter.command("retitle")
    async def retitle(self, event: AstrMessageEvent, title: str):
        """The current one, without saying which."""
        manager, umo = self.context.conversation_manager, event.unified_msg_origin
        await manager.update_conversation(umo, title=title)
        found = await manager.get_conversations(umo)
        yield event.plain_result(json.dumps([one.title for one in found]))

    @filter.command("whose")
    async def whose(self, event: AstrMessageEvent, umo: str):
        """What a session's name is made of, and whose its conversations are."""
        session = MessageSession.from_str(umo)
        found = await self.context.conversation_manager.get_conversations(umo)
        parts = [session.platform_name, session.message_type.value, session.session_id, str(session)]
        yield event.plain_result(json.dumps([parts, [[one.platform_id, one.user_id] for one in found]]))

    @filter.command("create")
    async def create(self, event: AstrMessageEvent, name: str, dialogue: str = "", tools: str = ""):
        persona = await self.context.persona_manager.create_persona(
            name,
            f"You are {name}.",
            begin_dialogs=dialogue.split(",") if dialogue else None,
            tools=tools.split(",") if tools else None,
        )
        yield event.plain_result(json.dumps(shown(persona)))

    @filter.command("update")
    async def update(self, event: AstrMessageEvent, name: str, system_prompt: str):
        persona = await self.context.persona_manager.update_persona(name, system_prompt=system_prompt)
        yield event.plain_result(json.dumps(shown(persona)))

    @filter.command("allow")
    async def allow(self, event: AstrMessageEvent, name: str, tools: str):
        """`all` tools, `none` of them, or those named."""
        named = {"all": None, "none": []}.get(tools, tools.split(","))
        persona = await self.context.persona_manager.update_persona(name, tools=named)
        yield event.plain_result(json.dumps(persona.tools))

    @filter.command("personas")
    async def personas(self, event: AstrMessageEvent):
        found = await self.context.persona_manager.get_all_personas()
        yield event.plain_result(json.dumps([shown(one) for one in found]))

    @filter.command("long")
    async def long(self, event: AstrMessageEvent):
        """How long a name may be."""
        found = []
        for length in (255, 256):
            try:
                await self.context.persona_manager.create_persona("n" * length, "long")
                found.append("made")
            except Exception:
                found.append("refused")
        yield event.plain_result(json.dumps(found))

    @filter.command("default")
    async def default(self, event: AstrMessageEvent):
        """The names that a session has in text, as an object, and in none."""
        manager, umo = self.context.persona_manager, event.unified_msg_origin
        asked = (umo, MessageSession.from_str(umo), None)
        found = [(await manager.get_default_persona_v3(one))["name"] for one in asked]
        yield event.plain_result(json.dumps(found))

    @filter.command("old")
    async def old(self, event: AstrMessageEvent):
        """The dictionaries of AstrBot 3: the session's, and all there are."""
        keys = ("prompt", "name", "begin_dialogs", "mood_imitation_dialogs", "tools")
        manager = self.context.persona_manager
        personas = [await manager.get_default_persona_v3(event.unified_msg_origin), *manager.personas_v3]
        yield event.plain_result(json.dumps([{key: one[key] for key in keys} for one in personas]))

    @filter.command("moods")
    async def moods(self, event: AstrMessageEvent):
        """Old plugins fill a field that nothing reads any more."""
        manager = self.context.persona_manager
        for one in [await manager.get_default_persona_v3(event.unified_msg_origin), *manager.personas_v3]:
            one["mood_imitation_dialogs"] = ["mood of the user", "mood of the assistant"]
        yield event.plain_result("set")
