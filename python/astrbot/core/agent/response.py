"""What an agent reports while it runs."""

from dataclasses import dataclass, field
from typing import Any

from astrbot.core.provider.entities import TokenUsage


@dataclass
class AgentResponse:
    type: str
    data: dict[str, Any]


AgentResponseData = dict[str, Any]


@dataclass
class AgentStats:
    token_usage: TokenUsage = field(default_factory=TokenUsage)
    current_context_tokens: int = 0
    start_time: float = 0.0
    end_time: float = 0.0
    time_to_first_token: float = 0.0

    @property
    def duration(self) -> float:
        return self.end_time - self.start_time

    def to_dict(self) -> dict:
        return {**vars(self), "token_usage": vars(self.token_usage).copy()}
