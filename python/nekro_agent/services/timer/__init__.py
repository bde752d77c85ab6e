"""Timers: once, and by a cron expression."""
