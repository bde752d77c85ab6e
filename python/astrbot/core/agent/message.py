"""Messages of a conversation with a model, in the shapes of the OpenAI API."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import (
    BaseModel,
    GetCoreSchemaHandler,
    PrivateAttr,
    ValidationError,
    model_serializer,
    model_validator,
)
from pydantic_core import CoreSchema, core_schema

from astrbot import texts

CHECKPOINT_ROLE = "_checkpoint"
_KINDS: dict[str, type[ContentPart]] = {}


class ContentPart(BaseModel):
    """A piece of content; a dictionary becomes the class that its `type` names."""

    type: Literal["text", "think", "image_url", "audio_url"]
    _no_save: bool = PrivateAttr(default=False)

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        kind = cls.__dict__.get("type")
        if not isinstance(kind, str):
            raise ValueError(texts.PART_WITHOUT_TYPE.format(name=cls.__name__))
        _KINDS[kind] = cls

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        if BaseModel not in cls.__bases__:
            return handler(source)
        return core_schema.no_info_plain_validator_function(cls._read)

    @classmethod
    def _read(cls, value: Any) -> ContentPart:
        if isinstance(value, ContentPart):
            return value
        kind = _KINDS.get(value.get("type", "")) if isinstance(value, dict) else None
        if kind is None:
            raise ValueError(f"Cannot validate {value} as ContentPart")
        part = kind.model_validate(value)
        part._no_save = bool(value.get("_no_save"))
        return part

    def mark_as_temp(self):
        """Goes to the model in this request only and is never stored."""
        self._no_save = True
        return self

    def model_dump_for_context(self) -> dict[str, Any]:
        return {**self.model_dump(), **({"_no_save": True} if self._no_save else {})}


class TextPart(ContentPart):
    type: str = "text"
    text: str


class ThinkPart(ContentPart):
    type: str = "think"
    think: str
    encrypted: str | None = None

    def merge_in_place(self, other: Any) -> bool:
        if not isinstance(other, ThinkPart) or self.encrypted:
            return False
        self.think += other.think
        self.encrypted = other.encrypted or self.encrypted
        return True


class ImageURLPart(ContentPart):
    class ImageURL(BaseModel):
        url: str
        id: str | None = None

    type: str = "image_url"
    image_url: ImageURL


class AudioURLPart(ContentPart):
    class AudioURL(BaseModel):
        url: str
        id: str | None = None

    type: str = "audio_url"
    audio_url: AudioURL


class ToolCall(BaseModel):
    class FunctionBody(BaseModel):
        name: str
        arguments: str | None

    type: Literal["function"] = "function"
    id: str
    function: FunctionBody
    extra_content: dict[str, Any] | None = None

    @model_serializer(mode="wrap")
    def _dump(self, handler: Any) -> dict[str, Any]:
        return _without_none(handler(self), "extra_content")


class ToolCallPart(BaseModel):
    arguments_part: str | None = None


class CheckpointData(BaseModel):
    id: str


class Message(BaseModel):
    role: Literal["system", "user", "assistant", "tool", "_checkpoint"]
    content: str | list[ContentPart] | CheckpointData | None = None
    tool_calls: list[ToolCall] | list[dict] | None = None
    tool_call_id: str | None = None

    _no_save: bool = PrivateAttr(default=False)
    _checkpoint_after: CheckpointData | None = PrivateAttr(default=None)

    @model_validator(mode="after")
    def _content_fits_role(self):
        checkpoint = isinstance(self.content, CheckpointData)
        if checkpoint != (self.role == CHECKPOINT_ROLE):
            raise ValueError("role '_checkpoint' and CheckpointData belong together")
        if self.content is None and (self.role != "assistant" or self.tool_calls is None):
            raise ValueError(texts.MESSAGE_WITHOUT_CONTENT)
        return self

    @model_serializer(mode="wrap")
    def _dump(self, handler: Any) -> dict[str, Any]:
        return _without_none(handler(self), "tool_calls", "tool_call_id")


class AssistantMessageSegment(Message):
    role: Literal["assistant"] = "assistant"


class ToolCallMessageSegment(Message):
    role: Literal["tool"] = "tool"


class UserMessageSegment(Message):
    role: Literal["user"] = "user"


class SystemMessageSegment(Message):
    role: Literal["system"] = "system"


class CheckpointMessageSegment(Message):
    role: Literal["_checkpoint"] = "_checkpoint"
    content: CheckpointData | None = None


def _without_none(data: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in data.items() if value is not None or name not in names}


def is_checkpoint_message(message: Message | dict) -> bool:
    role = message.role if isinstance(message, Message) else isinstance(message, dict) and message.get("role")
    return role == CHECKPOINT_ROLE


def get_checkpoint_id(message: Message | dict) -> str | None:
    found = _checkpoint(message)
    return found.id if found and found.id else None


def _checkpoint(message: Message | dict) -> CheckpointData | None:
    if not is_checkpoint_message(message):
        return None
    content = message.content if isinstance(message, Message) else message.get("content")
    try:
        return content if isinstance(content, CheckpointData) else CheckpointData.model_validate(content)
    except ValidationError:
        return None


def strip_checkpoint_messages(history: list[dict]) -> list[dict]:
    return [message for message in history if not is_checkpoint_message(message)]


def bind_checkpoint_messages(history: list[dict]) -> list[Message]:
    """Stored history as messages; a checkpoint hangs on the message before it."""
    messages: list[Message] = []
    for item in history:
        if is_checkpoint_message(item):
            if messages and (found := _checkpoint(item)):
                messages[-1]._checkpoint_after = found
            continue
        message = Message.model_validate(item)
        message._no_save = bool(item.get("_no_save"))
        messages.append(message)
    return messages


def dump_messages_with_checkpoints(messages: list[Message]) -> list[dict]:
    dumped: list[dict] = []
    for message in messages:
        data = message.model_dump()
        if isinstance(message.content, list):
            data["content"] = [part.model_dump() for part in message.content if not part._no_save]
        dumped.append(data)
        if message._checkpoint_after:
            dumped.append({"role": CHECKPOINT_ROLE, "content": message._checkpoint_after.model_dump()})
    return dumped
