"""Workspaces, of which there are none here: a session is never bound to one."""

from datetime import datetime
from typing import Any

from nekro_agent import texts
from nekro_agent.absent import Absent
from nekro_agent.models.model import Model
from nekro_agent.models.query import Query


class _Nothing(Query[Any]):
    """No rows, without asking the host."""

    async def ask(self, verb: str, values: dict[str, Any] | None = None) -> Any:
        if verb == "create":
            raise Absent(texts.FEATURE_ABSENT.format(name="DBWorkspace", feature="workspaces"))
        return {"list": [], "exists": False}.get(verb, 0)


class DBWorkspace(Model):
    TABLE = "workspace"
    COLUMNS = {
        "id": int, "name": str, "description": str, "status": str, "sandbox_image": str,
        "sandbox_version": str, "container_name": str, "container_id": str, "host_port": int,
        "runtime_policy": str, "last_heartbeat": datetime, "last_error": str, "metadata": dict,
        "create_time": datetime, "update_time": datetime,
    }

    @classmethod
    def query(cls) -> Query[Any]:
        return _Nothing(cls)
