"""AstrBot's own tools, by name. Plugins enumerate them and hand them to sub-agents.

Sending a message is done here; the rest are other methods of the host, or not offered, and say so when called."""

from __future__ import annotations

from typing import Any

from astrbot.core.agent.run_context import ContextWrapper
from astrbot.core.agent.tool import FunctionTool

_ELSEWHERE = """
astr_kb_search web_search_tavily tavily_extract_web_page web_search_bocha web_search_brave web_search_firecrawl
firecrawl_extract_web_page web_search_baidu web_search_exa exa_get_contents astrbot_execute_browser
astrbot_execute_browser_batch astrbot_run_browser_skill astrbot_get_execution_history astrbot_annotate_execution
astrbot_create_skill_payload astrbot_get_skill_payload astrbot_create_skill_candidate
astrbot_list_skill_candidates astrbot_evaluate_skill_candidate astrbot_promote_skill_candidate
astrbot_list_skill_releases astrbot_rollback_skill_release astrbot_sync_skill_release astrbot_execute_ipython
astrbot_execute_python astrbot_file_read_tool astrbot_file_write_tool astrbot_file_edit_tool astrbot_grep_tool
astrbot_upload_file astrbot_download_file astrbot_execute_shell astrbot_shell_session astrbot_cua_screenshot
astrbot_cua_mouse_click astrbot_cua_keyboard_type future_task get_group_message_history
""".split()


class SendMessageToUserTool(FunctionTool):
    def __init__(self) -> None:
        text = {"type": "string", "description": "The text to send."}
        super().__init__(
            name="send_message_to_user",
            description="Sends a message to the user at once, besides the final answer.",
            parameters={"type": "object", "properties": {"text": text}, "required": ["text"]},
        )

    async def call(self, context: ContextWrapper, **kwargs: Any) -> str:
        from astrbot.core.message.message_event_result import MessageChain

        await context.context.event.send(MessageChain().message(str(kwargs.get("text") or "")))
        return "Message sent."


class ElsewhereTool(FunctionTool):
    def __init__(self, name: str) -> None:
        super().__init__(name, f"{name}: not offered on this host.", {"type": "object", "properties": {}})

    async def call(self, context: ContextWrapper, **kwargs: Any) -> str:
        return f"error: {self.name} is not offered on this host; use another tool."


def all_tools() -> dict[str, FunctionTool]:
    made: list[FunctionTool] = [*map(ElsewhereTool, _ELSEWHERE), SendMessageToUserTool()]
    return {tool.name: tool for tool in made}
