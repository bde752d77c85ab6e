"""Routes of plugins: which application a path finds, and what it sees of the path."""

import socket
import unittest

from rig import Rig  # noqa: F401  (it makes the worker's packages importable)

from callgate_worker import host
from callgate_worker.web import Web


class Routes(unittest.IsolatedAsyncioTestCase):
    def setUp(self):
        self.seen = []
        self.web = Web(self.find, self.enterContext(socket.socket()))

    def find(self, plugin):
        async def application(scope, receive, send):
            self.seen.append((host.plugin.get(), scope["path"], scope["root_path"]))

        return application if plugin == "author.notes" else None

    async def ask(self, path, kind="http", headers=()):
        sent = []

        async def send(event):
            sent.append(event)

        await self.web({"type": kind, "path": path, "root_path": "", "headers": headers}, None, send)
        return sent

    async def test_a_path_finds_its_plugin_and_is_cut(self):
        await self.ask("/author.notes/a/b")
        await self.ask("/author.notes")
        root = "/plugins/author.notes"
        self.assertEqual(self.seen, [("author.notes", "/a/b", root), ("author.notes", "/", root)])

    async def test_the_host_says_where_it_lies(self):
        await self.ask("/author.notes/a", headers=[(b"x-callgate-root", b"/tickets/t")])
        self.assertEqual(self.seen, [("author.notes", "/a", "/tickets/t/author.notes")])

    async def test_a_plugin_without_routes_is_not_found(self):
        start, _ = await self.ask("/other/a")
        self.assertEqual(start["status"], 404)
        (close,) = await self.ask("/other/a", "websocket")
        self.assertEqual(close["type"], "websocket.close")


if __name__ == "__main__":
    unittest.main()
