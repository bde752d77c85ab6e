"""Waiting for the next message of a session."""

from astrbot.core.utils.session_waiter import SessionController, SessionWaiter, session_waiter

__all__ = ["SessionController", "SessionWaiter", "session_waiter"]
