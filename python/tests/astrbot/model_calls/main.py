"""Models asked by a plugin, in the new way and the old: which one is the session's, with a prompt, with contexts,
with both. Each command says what came back as JSON; what the model got is for the test to see."""

import json

from astrbot.api.event import AstrMessageEvent, filter
from astrbot.api.star import Star
from astrbot.core.agent.message import AssistantMessageSegment, TextPart, UserMessageSegment


class ModelCalls(Star):
    @filter.command("which")
    async def which(self, event: AstrMessageEvent):
        """By name, by position, and what becomes of a model that nobody has."""
        umo = event.unified_msg_origin
        found = [
            await self.context.get_current_chat_provider_id(umo=umo),
            await self.context.get_current_chat_provider_id(umo),
        ]
        try:
            await self.context.llm_generate(chat_provider_id="nobody", prompt="are you there?")
        except Exception as error:
            found.append(type(error).__name__)
        yield event.plain_result(json.dumps(found))

    @filter.command("fields")
    async def fields(self, event: AstrMessageEvent, model: str):
        """What an answer holds."""
        answer = await self.context.llm_generate(
            chat_provider_id=model, prompt="Hello, world!", system_prompt="be brief"
        )
        found = {
            "role": answer.role,
            "completion_text": answer.completion_text,
            "chain": answer.result_chain.get_plain_text(),
            "usage": [answer.usage.input, answer.usage.output],
            "calls": answer.tools_call_name,
        }
        yield event.plain_result(json.dumps(found))

    @filter.command("generate")
    async def generate(self, event: AstrMessageEvent):
        """To the session's model: a prompt, contexts without one, and contexts, system prompt and prompt."""
        said = UserMessageSegment(content=[TextPart(text="hi")])
        answered = AssistantMessageSegment(content=[TextPart(text="good day")])
        old = {"role": "user", "content": "as a dictionary"}
        asked = [
            {"prompt": "Hello, world!"},
            {"contexts": [said]},
            {"contexts": [said, answered, old], "prompt": "and last", "system_prompt": "be brief"},
        ]
        model = await self.context.get_current_chat_provider_id(umo=event.unified_msg_origin)
        answers = [await self.context.llm_generate(chat_provider_id=model, **one) for one in asked]
        yield event.plain_result(json.dumps([answer.completion_text for answer in answers]))

    @filter.command("pair")
    async def pair(self, event: AstrMessageEvent):
        """What the guide does to put a question and its answer on record."""
        manager = self.context.conversation_manager
        umo = event.unified_msg_origin
        current = await manager.get_curr_conversation_id(umo)
        question = UserMessageSegment(content=[TextPart(text="what is your name?")])
        answer = await self.context.llm_generate(
            chat_provider_id=await self.context.get_current_chat_provider_id(umo), contexts=[question]
        )
        await manager.add_message_pair(
            cid=current,
            user_message=question,
            assistant_message=AssistantMessageSegment(content=[TextPart(text=answer.completion_text)]),
        )
        yield event.plain_result((await manager.get_conversation(umo, current)).history)

    @filter.command("old")
    async def old(self, event: AstrMessageEvent):
        """As before 4.5.7: the provider itself is asked."""
        provider = self.context.get_using_provider(event.unified_msg_origin)
        answer = await provider.text_chat(prompt="in the old way", contexts=[], session_id=None)
        found = [provider.meta().id, answer.role, answer.completion_text]
        yield event.plain_result(json.dumps(found))
