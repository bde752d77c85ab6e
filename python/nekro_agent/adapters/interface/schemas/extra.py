"""What a platform says of a message besides its text."""

from pydantic import BaseModel


class PlatformMessageExt(BaseModel):
    ref_chat_key: str = ""
    ref_msg_id: str = ""
    ref_sender_id: str = ""
