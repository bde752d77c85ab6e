"""Writes down each event as a plugin sees it. "act ACTION PARAMETERS" makes it call the platform in one of the ways that
plugins do, write down what came back and say "done"; "echo …" is left to the model."""

import json

from astrbot.api.event import AstrMessageEvent, filter
from astrbot.api.star import Context, Star, StarTools

# What makes a component is not what it says.
_INHERITED = ("type", "convert")


def fields(component) -> dict:
    values = {name: value for name, value in vars(component).items() if name not in _INHERITED}
    if values.get("chain"):
        values["chain"] = [shown(inner) for inner in values["chain"]]
    return values


def shown(component) -> list:
    return [type(component).__name__, fields(component)]


def looked_up(raw) -> list:
    """A field in the ways that plugins look it up, and one that is not there."""
    try:
        return [raw.get("post_type"), raw.post_type, raw["post_type"], raw.a_field_that_is_not_there]
    except (AttributeError, KeyError) as error:
        return [repr(error)]


class Witness(Star):
    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.notes = StarTools.get_data_dir() / "events.jsonl"
        self.results = StarTools.get_data_dir() / "results.jsonl"

    @filter.event_message_type(filter.EventMessageType.ALL)
    async def note(self, event: AstrMessageEvent):
        message, raw = event.message_obj, event.message_obj.raw_message
        note = {
            "raw": dict(raw), "raw_class": f"{type(raw).__module__}.{type(raw).__name__}", "event": type(event).__name__,
            "kinds": looked_up(raw),
            "chain": [shown(component) for component in message.message], "message_str": event.message_str,
            "origin": event.unified_msg_origin, "session_id": event.session_id, "type": message.type.value,
            "sender_id": event.get_sender_id(), "sender_name": event.get_sender_name(), "self_id": event.get_self_id(),
            "group_id": event.get_group_id(), "message_id": message.message_id,
            "group_name": message.group.group_name if message.group else None,
            "platform": [event.get_platform_name(), event.get_platform_id(), event.platform_meta.name],
            "called": event.is_at_or_wake_command, "bot": hasattr(event, "bot"),
        }  # fmt: skip
        with self.notes.open("a") as file:
            file.write(json.dumps(note, ensure_ascii=False, default=str) + "\n")
        words = event.message_str.split(" ", 2)
        if words[0] == "act":
            result = await self.act(event, *words[1:])
            with self.results.open("a") as file:
                file.write(json.dumps(result, ensure_ascii=False, default=str) + "\n")
            yield event.plain_result("done")
        if words[0] != "echo":
            event.stop_event()

    async def act(self, event: AstrMessageEvent, action: str, given: str = "{}"):
        if action == "get_group":
            group = await event.get_group(**json.loads(given))
            return group and {**vars(group), "members": [vars(member) for member in group.members]}
        how, _, action = action.partition(":")
        parameters = json.loads(given)
        try:
            match how:
                case "call_action":
                    return await event.bot.call_action(action, **parameters)
                case "keyword":
                    return await event.bot.call_action(action=action, **parameters)
                case "api":
                    return await event.bot.api.call_action(action, **parameters)
                case "attribute":
                    return await getattr(event.bot, action)(**parameters)
                case "platform":
                    platform = self.context.get_platform_inst(event.get_platform_id())
                    return await platform.get_client().call_action(action, **parameters)
                case "name":
                    return await self.context.get_platform("aiocqhttp").bot.call_action(action, **parameters)
        except Exception as error:
            return {"error": type(error).__name__, "retcode": getattr(error, "retcode", None), "words": str(error)}
