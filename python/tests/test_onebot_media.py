"""Attachments that the OneBot program serves on this machine, through the real binary: they are kept where the operator
named the place, and nothing else there is asked."""

import unittest

from test_onebot import onebot, setUpModule  # noqa: F401
from test_onebot_platform import BINARY, LONG, Platform

PICTURE = b"\x89PNG\r\n\x1a\n" + b"a picture"


class Files:
    """Serves a picture at any path, and sends `/away` elsewhere."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.elsewhere = ""

    async def __aenter__(self) -> "Files":
        from aiohttp import web

        async def answer(request: web.Request) -> web.Response:
            self.asked.append(request.path)
            if request.path == "/away":
                raise web.HTTPFound(self.elsewhere)
            return web.Response(body=PICTURE)

        application = web.Application()
        application.router.add_get("/{path:.*}", answer)
        self._runner = web.AppRunner(application)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        self.address = "{}:{}".format(*self._runner.addresses[0])
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._runner.cleanup()


class Media(Platform):
    async def test_only_files_at_the_platforms_own_address_are_kept(self) -> None:
        image = onebot("segments").segment
        async with Files() as own, Files() as other:
            own.elsewhere = f"http://{other.address}/secret"
            instance = onebot("callgate").Callgate(BINARY, self.folder / "callgate")
            with (instance.data / "callgate.toml").open("a") as settings:
                settings.write(f'files = "{own.address}"\n')
            message = [
                image("image", file="a.png", url=f"http://{own.address}/a.png"),
                image("image", file="b.png", url=f"http://{other.address}/b.png"),
                image("image", file="c.png", url=f"http://{own.address}/away"),
            ]
            async with instance, self.client(instance) as client:
                await client.connect(instance.url)
                await client.emit(onebot("reconnect").asking("", 1, client.world.self_id, message=message))
                await client.wait_until(lambda: client.world.sent, LONG)
            kept = list(instance.data.rglob("uploads/*"))
            self.assertEqual([(path.name.partition("-")[2], path.read_bytes()) for path in kept], [("a.png", PICTURE)])
            self.assertEqual((own.asked, other.asked), (["/a.png", "/away"], []))


if __name__ == "__main__":
    unittest.main()
