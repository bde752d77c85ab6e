"""People on QQ."""

from typing import Any

from nekro_agent.tools.common_util import download_file
from nekro_agent.tools.path_convertor import convert_filename_to_sandbox_upload_path


async def get_avatar(user_qq: str, ctx: Any) -> str:
    """The sandbox path of somebody's picture."""
    url = f"https://q1.qlogo.cn/g?b=qq&nk={user_qq}&s=640"
    _, name = await download_file(url, from_chat_key=ctx.chat_key, use_suffix=".png")
    return str(convert_filename_to_sandbox_upload_path(name))
