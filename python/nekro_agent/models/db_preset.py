"""Personas, which Nekro calls presets."""

from datetime import datetime

from nekro_agent.models.model import Model


class DBPreset(Model):
    TABLE = "preset"
    COLUMNS = {
        "id": int, "remote_id": str, "on_shared": bool, "name": str, "title": str, "avatar": str,
        "content": str, "description": str, "tags": str, "ext_data": dict, "author": str,
        "create_time": datetime, "update_time": datetime,
    }
    DEFAULTS = {
        "on_shared": False, "title": "", "avatar": "", "content": "", "description": "", "tags": "",
        "ext_data": dict, "author": "",
    }
