"""AstrBot itself with the plugins of a folder and a model that answers at once.

    driver.py ROOT     ROOT/data/plugins holds the plugins

Each line on standard input is the number of tool calls the model makes before it answers, and how many such
messages to put through the pipeline; the answer is a JSON list of nanoseconds, one for each message.
"""

import asyncio
import json
import os
import sys
import time
import uuid

ROOT = os.environ["ASTRBOT_ROOT"] = os.path.abspath(sys.argv[1])
os.environ["ASTRBOT_DISABLE_METRICS"] = "1"
os.chdir(ROOT)
# What it logs must not get among the answers.
OUTPUT = os.fdopen(os.dup(1), "w")
os.dup2(os.open(os.devnull, os.O_WRONLY), 1)

from astrbot.core import LogBroker, db_helper  # noqa: E402
from astrbot.core.core_lifecycle import AstrBotCoreLifecycle  # noqa: E402
from astrbot.core.message.components import Plain  # noqa: E402
from astrbot.core.message.message_event_result import MessageChain  # noqa: E402
from astrbot.core.platform.astr_message_event import AstrMessageEvent  # noqa: E402
from astrbot.core.platform.astrbot_message import AstrBotMessage, MessageMember  # noqa: E402
from astrbot.core.platform.message_type import MessageType  # noqa: E402
from astrbot.core.platform.platform_metadata import PlatformMetadata  # noqa: E402
from astrbot.core.provider.entities import LLMResponse, ProviderMeta, ProviderType  # noqa: E402
from astrbot.core.provider.provider import Provider  # noqa: E402
from astrbot.core.utils.metrics import Metric  # noqa: E402


class AtOnce(Provider):
    """Calls `echo_value` as often as it was told, then answers."""

    def __init__(self) -> None:
        config = {"id": "bench", "type": "bench", "key": ["x"], "model": "bench"}
        super().__init__(config, {})
        self.set_model("bench")
        self.left = 0

    def meta(self) -> ProviderMeta:
        return ProviderMeta("bench", "bench", "bench", ProviderType.CHAT_COMPLETION)

    def get_current_key(self) -> str:
        return "x"

    def set_key(self, key: str) -> None:
        pass

    async def get_models(self) -> list[str]:
        return ["bench"]

    async def text_chat(self, *_: object, **__: object) -> LLMResponse:
        if self.left == 0:
            return LLMResponse("assistant", result_chain=MessageChain().message("Done."))
        self.left -= 1
        name = f"call_{self.left}"
        return LLMResponse(
            "tool", tools_call_args=[{"value": name}], tools_call_name=["echo_value"], tools_call_ids=[name]
        )


class Event(AstrMessageEvent):
    async def send(self, message: MessageChain) -> None:
        self._has_send_oper = True


def event(text: str) -> Event:
    message = AstrBotMessage()
    message.type = MessageType.FRIEND_MESSAGE
    message.self_id, message.session_id, message.message_id = (
        "bot",
        f"user-{uuid.uuid4().hex}",
        uuid.uuid4().hex,
    )
    message.sender = MessageMember("user", "User")
    message.message, message.message_str, message.raw_message = [Plain(text)], text, None
    return Event(text, message, PlatformMetadata("bench", "bench", "bench"), message.session_id)


async def quiet(**_: object) -> None:
    """Its statistics go to an outside service."""


async def main() -> None:
    Metric.upload = staticmethod(quiet)
    core = AstrBotCoreLifecycle(LogBroker(), db_helper)
    core.astrbot_config["provider_settings"]["default_provider_id"] = "bench"
    core.astrbot_config["provider_settings"]["max_agent_step"] = 2_000
    await core.initialize()
    model = AtOnce()
    manager = core.provider_manager
    manager.provider_insts.append(model)
    manager.inst_map["bench"] = model
    manager.curr_provider_inst = model
    pipeline = core.pipeline_scheduler_mapping["default"]
    for line in iter(sys.stdin.readline, ""):
        calls, count = map(int, line.split())
        times = []
        for number in range(count):
            model.left = calls
            begun = time.perf_counter_ns()
            await pipeline.execute(event(f"message {number}"))
            times.append(time.perf_counter_ns() - begun)
            if model.left:
                raise RuntimeError("the tool was not called")
        print(json.dumps(times), file=OUTPUT, flush=True)


asyncio.run(main())
