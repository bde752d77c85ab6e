"""Who asks for a plugin's route. The host has signed them in and says so in headers of its own."""

from datetime import UTC, datetime

from fastapi import Depends
from starlette.requests import HTTPConnection

from nekro_agent.models.db_user import DBUser
from nekro_agent.schemas.errors import PermissionDeniedError, UnauthorizedError
from nekro_agent.services.user.role import Role

# The proxy removes these from what comes from outside.
USER_HEADER, ROLE_HEADER = "x-callgate-user", "x-callgate-role"


async def get_current_user(request: HTTPConnection, token: str | None = None) -> DBUser:
    user = request.headers.get(USER_HEADER)
    if not user:
        raise UnauthorizedError
    is_operator = request.headers.get(ROLE_HEADER) == "operator"
    return DBUser(
        id=1 if is_operator else 0,
        username=user,
        adapter_key="web",
        platform_userid=user,
        perm_level=Role.Super if is_operator else Role.User,
        login_time=datetime.now(UTC),
    )


async def get_current_active_user(current_user: DBUser = Depends(get_current_user)) -> DBUser:
    return current_user


async def get_current_super_user(current_user: DBUser = Depends(get_current_user)) -> DBUser:
    if current_user.perm_level < Role.Super:
        raise PermissionDeniedError
    return current_user
