"""A Nekro plugin for the page's tests: settings of many kinds, a method that depends on them, and a
page of its own that tries to reach what it must not."""

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, PlainTextResponse
from nekro_agent.api.core import logger
from nekro_agent.api.plugin import ConfigBase, ExtraField, NekroPlugin, SandboxMethodType
from nekro_agent.api.schemas import AgentCtx
from pydantic import BaseModel, Field

plugin = NekroPlugin(
    name="Garden",
    module_name="garden",
    description="Waters plants",
    version="1.0.0",
    author="callgate",
    url="https://example.invalid/garden",
)


class Bed(BaseModel):
    name: str = Field(default="", title="Name of the bed")
    size: int = Field(default=1, title="Square metres")


@plugin.mount_config()
class GardenConfig(ConfigBase):
    """Settings of the garden."""

    GARDENER: str = Field(default="Ann", title="Gardener", description="Who waters.")
    LITRES: int = Field(default=2, title="Litres a day", ge=1, le=50)
    TOKEN: str = Field(default="", title="Token of the pump", json_schema_extra=ExtraField(is_secret=True).model_dump())
    DIARY: str = Field(default="", title="Diary", json_schema_extra=ExtraField(is_textarea=True).model_dump())
    PLANTS: list[str] = Field(default=["fern"], title="Plants")
    BEDS: list[Bed] = Field(default=[], title="Beds", json_schema_extra=ExtraField(sub_item_name="Bed").model_dump())


config: GardenConfig = plugin.get_config(GardenConfig)


@plugin.mount_sandbox_method(SandboxMethodType.TOOL, "water", "Waters a plant.")
async def water(_ctx: AgentCtx, plant: str, twice: bool = False) -> str:
    """Water a plant.

    Args:
        plant (str): Which one.
        twice (bool): Whether it gets double.

    Returns:
        str: What was done.
    """
    logger.info(f"watering {plant}")
    litres = config.LITRES * (2 if twice else 1)
    return f"{config.GARDENER} gave {litres} litres to {plant}; the pump {'has' if config.TOKEN else 'has no'} token"


PAGE = """<!doctype html><title>Garden</title><h1>The garden</h1><p id="told">…</p><p id="own"></p>
<script src="grow.js"></script>
<script>
  const tries = [
    fetch("/api/keys").then((it) => "keys " + it.status),
    fetch("/api/keys", { credentials: "include" }).then((it) => "keys with cookies " + it.status),
    Promise.resolve().then(() => "cookie " + document.cookie),
    Promise.resolve().then(() => "storage " + localStorage.length),
    Promise.resolve().then(() => "page around it " + (parent === self ? missing : parent.document.title)),
  ];
  Promise.allSettled(tries).then((all) => {
    told.textContent = all.map((it) => (it.status === "fulfilled" ? "REACHED " + it.value : "refused")).join(", ");
  });
</script>"""


@plugin.mount_router()
def routes() -> APIRouter:
    router = APIRouter()

    @router.get("/", response_class=HTMLResponse)
    async def page() -> str:
        return PAGE

    @router.get("/grow.js", response_class=PlainTextResponse)
    async def script() -> PlainTextResponse:
        grow = "fetch('plants').then((it) => it.json()).then((it) => (own.textContent = it.join()));"
        return PlainTextResponse(grow, media_type="text/javascript")

    @router.get("/plants")
    async def plants(request: Request) -> list[str]:
        return ["fern", request.scope["root_path"].split("/")[1], request.headers["x-callgate-user"]]

    return router
