"""People the host has met."""

from datetime import UTC, datetime
from typing import Optional

from nekro_agent.models.model import Model


class DBUser(Model):
    TABLE = "user"
    COLUMNS = {
        "id": int, "username": str, "password": str, "adapter_key": str, "platform_userid": str,
        "perm_level": int, "login_time": datetime, "ban_until": datetime,
        "prevent_trigger_until": datetime, "ext_data": dict,
        "create_time": datetime, "update_time": datetime,
    }
    DEFAULTS = {"password": "", "perm_level": 1, "ext_data": dict}

    @property
    def is_active(self) -> bool:
        """Not banned."""
        return not _is_ahead(self.ban_until)

    @property
    def is_prevent_trigger(self) -> bool:
        """Heard, but not answered."""
        return _is_ahead(self.prevent_trigger_until)

    @property
    def unique_id(self) -> str:
        return f"{self.adapter_key}:{self.platform_userid}"

    @classmethod
    async def get_by_union_id(cls, adapter_key: str, platform_userid: str) -> Optional["DBUser"]:
        return await cls.get_or_none(adapter_key=adapter_key, platform_userid=platform_userid)


def _is_ahead(moment: datetime | None) -> bool:
    if moment is None:
        return False
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)) > datetime.now(UTC)
