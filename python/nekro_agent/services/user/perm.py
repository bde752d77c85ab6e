"""Routes for some roles only."""

import functools
from collections.abc import Callable
from typing import Any

from fastapi import Depends

from nekro_agent.models.db_user import DBUser
from nekro_agent.schemas.errors import PermissionDeniedError
from nekro_agent.services.user.deps import get_current_active_user
from nekro_agent.services.user.role import Role


def check_role(user: DBUser, min_role: Role) -> bool:
    return user.perm_level >= min_role


def require_role(min_role: Role) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def decorator(func: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(func)
        async def guarded(
            *args: Any, _current_user: DBUser = Depends(get_current_active_user), **kwargs: Any
        ) -> Any:
            if not check_role(_current_user, min_role):
                raise PermissionDeniedError
            return await func(*args, _current_user=_current_user, **kwargs)

        return guarded

    return decorator
