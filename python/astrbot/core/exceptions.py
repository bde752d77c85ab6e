"""Errors plugins may catch by name."""


class AstrBotError(Exception):
    """Base of the errors below."""


class ProviderNotFoundError(AstrBotError):
    """No model of that id, or none at all."""


class EmptyModelOutputError(AstrBotError):
    """The model answered nothing usable."""


class KnowledgeBaseUploadError(AstrBotError):
    def __init__(self, *, stage: str, user_message: str, details: dict | None = None) -> None:
        super().__init__(user_message)
        self.stage = stage
        self.user_message = user_message
        self.details = details or {}


class NotAvailableError(AstrBotError):
    """A part of AstrBot that this host does not offer was used."""
