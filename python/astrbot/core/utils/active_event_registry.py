"""Which events of a session are being handled right now."""

from __future__ import annotations

from collections import defaultdict

from astrbot.core.platform.astr_message_event import AstrMessageEvent


class ActiveEventRegistry:
    def __init__(self) -> None:
        self._events: dict[str, set[AstrMessageEvent]] = defaultdict(set)

    def register(self, event: AstrMessageEvent) -> None:
        self._events[event.unified_msg_origin].add(event)

    def unregister(self, event: AstrMessageEvent) -> None:
        for session in [key for key, events in self._events.items() if event in events]:
            self._events[session].discard(event)
            if not self._events[session]:
                del self._events[session]

    def stop_all(self, umo: str, exclude: AstrMessageEvent | None = None) -> int:
        stopped = [event for event in self._events.get(umo, ()) if event is not exclude]
        for event in stopped:
            event.stop_event()
        return len(stopped)

    def request_agent_stop_all(self, umo: str, exclude: AstrMessageEvent | None = None) -> int:
        asked = [event for event in self._events.get(umo, ()) if event is not exclude]
        for event in asked:
            event.set_extra("agent_stop_requested", True)
        return len(asked)


active_event_registry = ActiveEventRegistry()
