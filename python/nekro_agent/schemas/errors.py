"""Errors that plugins' routes raise; each becomes an HTTP answer with its status."""

from fastapi import HTTPException


class AppError(HTTPException):
    status = 400
    text = "the request cannot be served"

    def __init__(self, detail: str | None = None, **data: object) -> None:
        reason = detail or ", ".join(f"{key}: {value}" for key, value in data.items())
        super().__init__(type(self).status, reason or type(self).text)


class UnauthorizedError(AppError):
    status = 401
    text = "sign in first"


class TokenExpiredError(UnauthorizedError):
    text = "the sign-in has expired"


class PermissionDeniedError(AppError):
    status = 403
    text = "this needs more rights"


class NotFoundError(AppError):
    status = 404
    text = "there is no such thing"


class ValidationError(AppError):
    status = 422
    text = "the request is not valid"


class ConflictError(AppError):
    status = 409
    text = "this is there already"


class OperationFailedError(AppError):
    status = 500
    text = "that did not work"
