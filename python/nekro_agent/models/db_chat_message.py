"""The log of a session, one row per message. Deleting one hides it."""

import json
from datetime import datetime
from typing import Any

from nekro_agent import parts
from nekro_agent.adapters.interface.schemas.extra import PlatformMessageExt
from nekro_agent.core.config import CoreConfig
from nekro_agent.models.model import Model
from nekro_agent.schemas.chat_message import (
    ChatMessageSegment,
    ChatMessageSegmentAt,
    ChatMessageSegmentFile,
    ChatMessageSegmentImage,
    segments_from_list,
)
from nekro_agent.tools.common_util import limited_text_output
from nekro_agent.tools.path_convertor import convert_filename_to_sandbox_upload_path


class DBChatMessage(Model):
    TABLE = "chat_message"
    COLUMNS = {
        "id": int, "sender_id": str, "sender_name": str, "sender_nickname": str, "is_tome": int,
        "is_recalled": bool, "adapter_key": str, "message_id": str, "chat_key": str, "chat_type": str,
        "platform_userid": str, "content_text": str, "content_data": str, "raw_cq_code": str,
        "ext_data": str, "send_timestamp": int, "create_time": datetime, "update_time": datetime,
    }
    DEFAULTS = {
        "is_tome": 0, "is_recalled": False, "message_id": "", "platform_userid": "",
        "content_data": "[]", "raw_cq_code": "", "ext_data": "{}",
    }

    def parse_content_data(self) -> list[ChatMessageSegment]:
        given = json.loads(self.content_data or "[]")
        return segments_from_list(parts.to_segments(given, self.chat_key or ""))

    @property
    def is_system(self) -> bool:
        return self.sender_id == "-1" and self.sender_name == "SYSTEM"

    @property
    def ext_data_obj(self) -> PlatformMessageExt:
        try:
            return PlatformMessageExt.model_validate(json.loads(self.ext_data or "{}"))
        except ValueError:
            return PlatformMessageExt()

    def parse_chat_history_prompt(
        self, one_time_code: str, config: CoreConfig, ref_mode: bool = False
    ) -> str:
        """The row as a line of a prompt."""
        content = "".join(_told(it, one_time_code, ref_mode) for it in self.parse_content_data())
        content = limited_text_output(content or self.content_text, config.AI_CONTEXT_LENGTH_PER_MESSAGE)
        moment = datetime.fromtimestamp(self.send_timestamp).strftime("%m-%d %H:%M:%S")
        marks = []
        if ref_mode and self.message_id:
            marks.append(f"msg_id:{self.message_id}")
        if ref_mode and self.ext_data_obj.ref_msg_id:
            marks.append(f"ref:{self.ext_data_obj.ref_msg_id}")
        mark = f"({', '.join(marks)})" if marks else ""
        return f'{mark}[{moment} id:{self.platform_userid}] "{self.sender_nickname}" 说: {content}'


def _told(segment: ChatMessageSegment, code: str, is_plain: bool) -> str:
    if isinstance(segment, ChatMessageSegmentFile):
        word = "Image" if isinstance(segment, ChatMessageSegmentImage) else "File"
        told = f"{word}:{convert_filename_to_sandbox_upload_path(segment.file_name)}"
    elif isinstance(segment, ChatMessageSegmentAt):
        told = f"At:[@id:{segment.target_platform_userid};nickname:{segment.target_nickname}@]"
    else:
        return segment.text
    return f"<{told}>" if is_plain else f"<{code} | {told}>"


def convert_raw_msg_data_json_to_msg_prompt(
    json_data: str, one_time_code: str, config: Any = None, travel_mode: bool = False
) -> str:
    """The segments of a stored message as a text for a prompt."""
    return "".join(_told(it, one_time_code, travel_mode) for it in segments_from_list(json.loads(json_data)))
