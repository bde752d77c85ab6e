"""The web side of a plugin: its router, and pages from its own folder."""

import mimetypes
from collections.abc import Callable
from pathlib import Path, PurePosixPath
from types import ModuleType
from typing import TYPE_CHECKING, Any, Literal, TypeVar

if TYPE_CHECKING:
    from fastapi import APIRouter

F = TypeVar("F", bound=Callable[..., Any])
_PAGES = {".html", ".htm"}


class WebPages:
    """What `NekroPlugin` knows of routes. `/plugins/<key>` leads to them."""

    key: str
    name: str
    _module: ModuleType | None

    def __init__(self, webui_path: str | None) -> None:
        self.webui_path = _checked(webui_path)

    def reset_router(self) -> None:
        self._router_func: Callable[[], APIRouter] | None = None
        self._router: APIRouter | None = None

    def mount_router(self) -> Callable[[F], F]:
        def decorator(func: F) -> F:
            self._router_func, self._router = func, None
            return func

        return decorator

    @property
    def has_router(self) -> bool:
        return self._router_func is not None or self.get_webui_type() == "file"

    def get_plugin_router(self) -> "APIRouter | None":
        """All routes of the plugin, made when they are first asked for."""
        if self._router is None and self.has_router:
            from fastapi import APIRouter

            router = APIRouter()
            if self._router_func is not None:
                made = self._router_func()
                if not isinstance(made, APIRouter):
                    kind = type(made).__name__
                    raise TypeError(f"{self.name}: mount_router wants an APIRouter, not {kind}")
                router.include_router(made)
            page = self._page()
            if page is not None:
                router.include_router(_static(page))
            self._router = router
        return self._router

    def get_webui_type(self) -> Literal["route", "file"] | None:
        if not self.webui_path:
            return None
        if self.webui_path.startswith("/"):
            return "route" if self._router_func else None
        return "file" if self._page() else None

    def get_webui_url_path(self) -> str | None:
        kind = self.get_webui_type()
        if kind == "route":
            return f"/plugins/{self.key}{self.webui_path}"
        page = self._page() if kind else None
        return f"/plugins/{self.key}/__webui__/{page.name}" if page else None

    def _page(self) -> Path | None:
        if not self.webui_path or self.webui_path.startswith("/"):
            return None
        if self._module is None or not self._module.__file__:
            return None
        root = Path(self._module.__file__).resolve().parent
        page = (root / self.webui_path).resolve()
        return page if page.is_relative_to(root) and page.is_file() else None


def _static(page: Path) -> "APIRouter":
    """The page, and what lies beside it."""
    from fastapi import APIRouter, HTTPException
    from fastapi.responses import FileResponse

    router = APIRouter(include_in_schema=False)
    root = page.parent

    async def serve(file_path: str = "") -> FileResponse:
        target = (root / file_path).resolve() if file_path else page
        if not target.is_relative_to(root) or not target.is_file():
            raise HTTPException(404, "there is no such file")
        return FileResponse(target, media_type=mimetypes.guess_type(target.name)[0])

    for path in ("/__webui__", "/__webui__/", "/__webui__/{file_path:path}"):
        router.add_api_route(path, serve, methods=["GET"])
    return router


def _checked(path: str | None) -> str | None:
    """A route of the plugin (`/page`) or an HTML file in its folder (`web/index.html`)."""
    bare = (path or "").strip()
    if not bare:
        return None
    if "\\" in bare or "://" in bare or bare.startswith("//") or ".." in PurePosixPath(bare).parts:
        raise ValueError(f"webui_path '{path}' is neither a route of the plugin nor a file in its folder")
    if not bare.startswith("/") and PurePosixPath(bare).suffix.lower() not in _PAGES:
        raise ValueError(f"webui_path '{path}': a file is an .html or .htm page")
    return bare
