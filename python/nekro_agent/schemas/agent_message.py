"""What plugins send: pieces of text, images and files."""

from collections.abc import Iterable
from enum import Enum

from pydantic import BaseModel, ConfigDict


class AgentMessageSegmentType(str, Enum):
    TEXT = "text"
    IMAGE = "image"
    FILE = "file"


class AgentMessageSegment(BaseModel):
    """A piece of a message; the content of an image or file is its sandbox path or URL."""

    model_config = ConfigDict(use_enum_values=True)

    type: AgentMessageSegmentType = AgentMessageSegmentType.TEXT
    content: str

    def get_prompt(self) -> str:
        if self.type == AgentMessageSegmentType.TEXT:
            return self.content
        return f"[{AgentMessageSegmentType(self.type).value.capitalize()}: {self.content}]"


def convert_agent_message_to_prompt(agent_messages: Iterable[AgentMessageSegment]) -> str:
    return " ".join(message.get_prompt() for message in agent_messages)
