"""A lock per key, for plugins that guard their own work by session."""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class SessionLockManager:
    def __init__(self) -> None:
        self._locks: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._waiting: defaultdict[str, int] = defaultdict(int)

    @asynccontextmanager
    async def acquire_lock(self, session_id: str) -> AsyncIterator[None]:
        self._waiting[session_id] += 1
        try:
            async with self._locks[session_id]:
                yield
        finally:
            self._waiting[session_id] -= 1
            if not self._waiting[session_id]:
                del self._waiting[session_id], self._locks[session_id]


session_lock_manager = SessionLockManager()
