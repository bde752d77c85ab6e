"""Values that plugins keep, one row each."""

from datetime import datetime

from nekro_agent.models.model import Model


class DBPluginData(Model):
    TABLE = "plugin_data"
    COLUMNS = {
        "id": int, "plugin_key": str, "data_key": str, "data_value": str,
        "target_chat_key": str, "target_user_id": str,
        "create_time": datetime, "update_time": datetime,
    }
    DEFAULTS = {"target_chat_key": "", "target_user_id": "", "data_value": ""}
