"""The worker process as the host meets it: calls, host calls, streams, failures."""

import asyncio
import tempfile
import textwrap
import unittest
from pathlib import Path

from rig import Rig, StepError

HERE = Path(__file__).parent


class Worker(unittest.IsolatedAsyncioTestCase):
    async def start(self, source, **methods):
        rig = await self.enterAsyncContext(Rig("probe.flavour", methods, paths=(HERE,)))
        folder = self.enterContext(tempfile.TemporaryDirectory())
        path = Path(folder, "sample.py")
        path.write_text(textwrap.dedent(source))
        await rig.load(path)
        return rig

    async def test_a_call_reaches_the_plugin_and_the_host_and_comes_back(self):
        rig = await self.start(
            """
            from callgate_worker import host
            async def double(x):
                return 2 * await host.call("get", name=x)
            """,
            get=lambda name: len(name),
        )
        self.assertEqual(await rig.call("sample", "double", "four"), 8)
        self.assertEqual(rig.calls, [("get", {"name": "four"})])

    async def test_synchronous_code_asks_on_the_lane(self):
        rig = await self.start(
            """
            from callgate_worker import host
            async def read(x):
                return host.call_now("get", name=x)
            """,
            get=lambda name: name.upper(),
        )
        self.assertEqual(await rig.call("sample", "read", "x"), "X")

    async def test_a_failure_says_type_text_and_line(self):
        rig = await self.start(
            """
            async def fails():
                raise ValueError("no such thing")
            async def silent():
                raise KeyError()
            async def leaves():
                import sys
                sys.exit("enough")
            async def refused():
                from callgate_worker import host
                await host.call("missing")
            """
        )
        with self.assertRaises(StepError) as caught:
            await rig.call("sample", "fails")
        error = caught.exception.error
        self.assertEqual((error["type"], error["message"]), ("ValueError", "no such thing"))
        self.assertIn('raise ValueError("no such thing")', error["traceback"])
        self.assertNotIn("channel.py", error["traceback"])
        for method, type, message in [
            ("silent", "KeyError", ""),
            ("leaves", "SystemExit", "enough"),
            ("refused", "HostError", "no method 'missing'"),
        ]:
            with self.assertRaises(StepError) as caught:
                await rig.call("sample", method)
            error = caught.exception.error
            self.assertEqual((error["type"], error["message"]), (type, message))

    async def test_exit_in_a_task_of_its_own_ends_that_task_only(self):
        rig = await self.start(
            """
            import asyncio, sys
            async def leave():
                async def inner(): sys.exit(3)
                global task
                task = asyncio.create_task(inner())
            async def here(): return "here"
            """
        )
        await rig.call("sample", "leave")
        self.assertEqual(await rig.call("sample", "here"), "here")

    async def test_a_stream_waits_for_credit_and_closes_its_generator(self):
        closed = asyncio.Event()
        rig = await self.start("", closed=closed.set)
        taken = []
        async for number in rig.steps("count", upto=1000):
            taken.append(number)
            if number == 3:
                break
        await asyncio.wait_for(closed.wait(), 10)
        self.assertEqual(taken, [0, 1, 2, 3])
        self.assertEqual([n async for n in rig.steps("count", upto=3)], [0, 1, 2])

    async def test_a_host_stream_gives_items_and_its_result(self):
        async def words():
            for word in ("a", "b"):
                yield word

        rig = await self.start(
            """
            from callgate_worker import host
            async def all():
                stream = host.stream("words")
                return [word async for word in stream]
            """,
            words=words,
        )
        self.assertEqual(await rig.call("sample", "all"), ["a", "b"])

    async def test_a_loop_in_a_thread_can_call_the_host(self):
        rig = await self.start(
            """
            import asyncio
            from callgate_worker import host
            async def aside():
                inner = lambda: asyncio.run(host.call("get", name="x"))
                return await asyncio.to_thread(inner)
            """,
            get=lambda name: name * 2,
        )
        self.assertEqual(await rig.call("sample", "aside"), "xx")

    async def test_a_cancelled_call_is_cancelled_in_the_plugin(self):
        stopped = asyncio.Event()
        rig = await self.start(
            """
            import asyncio
            from callgate_worker import host
            async def sleep():
                try: await asyncio.sleep(60)
                finally: await host.call("stopped")
            """,
            stopped=stopped.set,
        )
        with self.assertRaises(TimeoutError):
            async with asyncio.timeout(0.2):
                await rig.call("sample", "sleep")
        await asyncio.wait_for(stopped.wait(), 10)

    async def test_what_cannot_pass_is_named(self):
        rig = await self.start("async def broken(): return {'a': [print]}")
        with self.assertRaises(StepError) as caught:
            await rig.call("sample", "broken")
        self.assertEqual(caught.exception.error["type"], "CannotPass")
        self.assertIn("result.a[0]", caught.exception.error["message"])


if __name__ == "__main__":
    unittest.main()
