"""Loggers. Records go to the worker's log pipe; each plugin has a logger of its own below `astrbot.plugin`."""

from __future__ import annotations

import asyncio
import logging
import sys
from collections import deque

CACHED_SIZE = 500


class LogBroker:
    """Recent records for plugins that show logs; fed by `LogQueueHandler` when somebody subscribes."""

    def __init__(self) -> None:
        self.log_cache: deque = deque(maxlen=CACHED_SIZE)
        self.subscribers: list[asyncio.Queue] = []

    def register(self) -> asyncio.Queue:
        queue: asyncio.Queue = asyncio.Queue(maxsize=CACHED_SIZE + 10)
        self.subscribers.append(queue)
        return queue

    def unregister(self, q: asyncio.Queue) -> None:
        if q in self.subscribers:
            self.subscribers.remove(q)

    def publish(self, log_entry: dict) -> None:
        self.log_cache.append(log_entry)
        for queue in self.subscribers:
            if not queue.full():
                queue.put_nowait(log_entry)


class LogQueueHandler(logging.Handler):
    def __init__(self, log_broker: LogBroker) -> None:
        super().__init__()
        self.log_broker = log_broker

    def emit(self, record: logging.LogRecord) -> None:
        self.log_broker.publish(
            {"level": record.levelname, "time": record.created, "data": record.getMessage()}
        )


class LogManager:
    @classmethod
    def GetLogger(cls, log_name: str = "default") -> logging.Logger:
        return logging.getLogger(log_name)

    @classmethod
    def get_plugin_logger(cls, plugin_name: str) -> logging.Logger:
        return logging.getLogger(f"astrbot.plugin.{plugin_name}")

    @classmethod
    def set_queue_handler(cls, logger: logging.Logger, log_broker: LogBroker) -> None:
        logger.addHandler(LogQueueHandler(log_broker))


class PluginLogger:
    """`astrbot.api.logger`: every call goes to the logger of the plugin whose code calls."""

    def __getattr__(self, name: str):
        return getattr(_caller(sys._getframe(1).f_globals.get("__name__", "")), name)


def _caller(module: str) -> logging.Logger:
    from astrbot.core.star.star import star_map

    for path, metadata in star_map.items():
        package = path.rpartition(".")[0]
        if metadata.name and (module == path or module.startswith(f"{package}.")):
            return LogManager.get_plugin_logger(metadata.name)
    return logging.getLogger("astrbot")
