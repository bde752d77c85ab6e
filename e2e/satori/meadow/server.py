"""satori-python's server at a port of its own, with the networks behind it. It is started without the program that
usually starts it (launart), which ends only with its process."""

import asyncio
import contextlib

import aiohttp
import uvicorn
from loguru import logger
from onebot.process import TOKEN, answers, free_port
from satori import Api
from satori.server import Server
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocketDisconnect

from .network import Network

logger.remove()


class SatoriServer:
    def __init__(self, *networks: Network, token: str = TOKEN):
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}/satori"
        self.networks = networks
        self._token = token

    async def start(self) -> None:
        satori = self._satori = Server(port=self.port, path="satori", token=self._token)
        for network in self.networks:
            satori.apply(network)
        satori.routes[Api.UPLOAD_CREATE.value] = satori._default_upload_create_handler
        satori.session = aiohttp.ClientSession()
        methods = ["GET", "POST", "PUT", "DELETE"]
        satori.app.routes.extend(
            [
                WebSocketRoute("/satori/v1/events", satori.websocket_server_handler),
                Route("/satori/v1/meta", satori.meta_get_handler, methods=["POST"]),
                Route("/satori/v1/proxy/{internal_url:path}", satori.proxy_url_handler, methods=methods),
                Route("/satori/v1/{action:path}", satori.http_server_handler, methods=methods),
            ]
        )
        options = uvicorn.Config(satori.app, port=self.port, log_level="critical", lifespan="off", ws="websockets-sansio")
        self._uvicorn = uvicorn.Server(options)
        self._uvicorn.capture_signals = contextlib.nullcontext
        self._tasks = [asyncio.create_task(self._uvicorn.serve()), *map(asyncio.create_task, map(self._post, self.networks))]
        await answers(self.port)

    async def _post(self, network: Network) -> None:
        async for event in network.publisher():
            await self._satori.post(event)

    async def stop(self) -> None:
        """As a program that ends: its sockets close, and it counts from the beginning when it is started again."""
        await self.drop()
        self._uvicorn.should_exit = self._uvicorn.force_exit = True
        serving, *posting = self._tasks
        for task in posting:
            task.cancel()
        await asyncio.wait_for(serving, 10)
        await asyncio.gather(*posting, return_exceptions=True)
        await self._satori.session.close()

    async def drop(self) -> None:
        """Closes what is connected, and stays."""
        for connection in list(self._satori.connections):
            with contextlib.suppress(RuntimeError, WebSocketDisconnect):
                await connection.connection.close()

    def file(self, url: str) -> bytes | None:
        """What was handed over, and is called so."""
        return self._satori.get_local_file(url)

    @property
    def connected(self) -> int:
        return len(self._satori.connections)

    async def __aenter__(self) -> "SatoriServer":
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()
