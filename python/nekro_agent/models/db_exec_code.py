"""Runs of code in the sandbox."""

from datetime import datetime
from enum import IntEnum

from nekro_agent.models.model import Model


class ExecStopType(IntEnum):
    NORMAL = 0
    ERROR = 1
    TIMEOUT = 2
    AGENT = 8
    MANUAL = 9
    SECURITY = 10
    MULTIMODAL_AGENT = 11


class DBExecCode(Model):
    TABLE = "exec_code"
    COLUMNS = {
        "id": int, "chat_key": str, "trigger_user_id": str, "trigger_user_name": str, "success": bool,
        "code_text": str, "outputs": str, "use_model": str, "thought_chain": str, "stop_type": int,
        "exec_time_ms": int, "generation_time_ms": int, "total_time_ms": int, "extra_data": str,
        "create_time": datetime, "update_time": datetime,
    }
