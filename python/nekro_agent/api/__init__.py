"""What plugins are meant to import."""

from nekro_agent.api import core, i18n, message, plugin, recurring_timer, schemas, signal, timer

__all__ = ["core", "i18n", "message", "plugin", "recurring_timer", "schemas", "signal", "timer"]
