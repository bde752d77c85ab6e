"""Models, timers, routes and the rest that plugins import beyond the API."""

import asyncio
import json
import time
import unittest
from typing import Any

from nekro_host import CHAT, Scene, StepError


class Models(Scene):
    async def test_a_group_has_the_hosts_address_and_a_key_of_who_asks(self) -> None:
        await self.plugin("")
        group = """
            from nekro_agent.core.config import config
            group = config.get_model_group_info("default")
            return group.BASE_URL, group.API_KEY, config.MODEL_GROUPS["default"].BASE_URL
        """
        for _ in range(2):
            address, key, known = eval(await self.run_in(group))
            self.assertEqual((address, key, known), ("http://host/v1", f"key-{self.host.lent}", "http://host/v1"))
            await self.rig.step("settings", settings=self.host.settings_get(), models=self.host.model_list())

    async def test_a_model_of_the_host_is_asked_through_the_host(self) -> None:
        await self.plugin("")
        told = await self.run_in("""
            from nekro_agent.core.config import config
            from nekro_agent.services.agent.creator import ContentSegment, OpenAIChatMessage
            from nekro_agent.services.agent.openai import gen_openai_chat_response, gen_openai_embeddings
            group = config.get_model_group_info("default")
            message = OpenAIChatMessage.from_text("user", "hello ").add(ContentSegment.text_content("there"))
            pieces = []
            async def grow(chunk): pieces.append(chunk.chunk_text)
            answer = await gen_openai_chat_response(model=group.CHAT_MODEL, messages=[message, {"role": "user", "content": "x"}],
                base_url=group.BASE_URL, api_key=group.API_KEY, temperature=0.5, chunk_callback=grow)
            picture = OpenAIChatMessage.create_empty("user").add(ContentSegment.image_content("data:x")).to_dict()
            vector = await gen_openai_embeddings("vectors", "four")
            return answer.response_content, answer.use_model, pieces, sorted(config.MODEL_GROUPS), picture["content"][0]["type"], vector
        """)
        self.assertEqual(eval(told), ("fine", "small", ["fi", "ne"], ["default", "small", "text-embedding", "vectors"], "image_url", [4.0, 1.0]))
        asked = self.host.asked[0]
        self.assertEqual((asked["model"], asked["temperature"]), ("small", 0.5))
        self.assertEqual(asked["messages"][0], {"role": "user", "content": "hello there"})
        with self.assertRaisesRegex(StepError, "no model group 'big'; there are: small, vectors, default"):
            await self.run_in("from nekro_agent.core.config import config\nconfig.get_model_group_info('big')")

    async def test_an_address_that_a_plugin_brings_is_called_directly(self) -> None:
        answer = {"choices": [{"message": {"content": "mine"}}], "usage": {"prompt_tokens": 2, "completion_tokens": 3}}
        heard: list[bytes] = []

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            head = await reader.readuntil(b"\r\n\r\n")
            length = int(next(it for it in head.lower().split(b"\r\n") if it.startswith(b"content-length")).split(b":")[1])
            heard.append(head + await reader.readexactly(length))
            body = json.dumps(answer).encode()
            writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n" % len(body) + body)
            writer.close()

        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        await self.plugin("")
        told = await self.run_in(f"""
            from nekro_agent.services.agent.openai import gen_openai_chat_response
            a = await gen_openai_chat_response("m", [{{"role": "user", "content": "x"}}], base_url="http://127.0.0.1:{port}/v1", api_key="k")
            return a.response_content, a.token_input, a.token_output
        """)
        server.close()
        self.assertEqual(told, "('mine', 2, 3)")
        self.assertIn(b"POST /v1/chat/completions", heard[0])
        self.assertIn(b"Bearer k", heard[0])
        self.assertEqual(self.host.asked, [])


class Timers(Scene):
    async def until_pushed(self, count: int = 1) -> None:
        for _ in range(250):
            if len(self.host.pushed) >= count:
                return
            await asyncio.sleep(0.02)
        self.fail(f"pushed {self.host.pushed}")

    async def test_a_timer_gives_a_row_and_a_turn(self) -> None:
        await self.plugin("")
        told = await self.run_in("""
            import time
            from nekro_agent.api import timer
            now = int(time.time())
            made = [await timer.set_timer(ctx.chat_key, now + 1, "tea"), await timer.set_timer(ctx.chat_key, now - 5, "late"),
                    await timer.set_temp_timer(ctx.chat_key, now + 500, "a"), await timer.set_temp_timer(ctx.chat_key, now + 600, "b")]
            return made, sorted(t.event_desc for t in await timer.get_timers(ctx.chat_key))
        """)
        self.assertEqual(told, "([True, False, True, True], ['b', 'tea'])")
        tea = next(it for it in self.host.timers.values() if it["text"] == "tea")
        await self.ring(tea)
        self.assertEqual(self.host.pushed, [{"session": CHAT, "text": "⏰ A timer has gone off: tea", "trigger": True}])
        told = await self.run_in("""
            from nekro_agent.api import timer
            await timer.clear_timers(ctx.chat_key, temporary=True)
            return await timer.get_timers(ctx.chat_key), await timer.set_timer(ctx.chat_key, 0, "now")
        """)
        self.assertEqual(told, "([], True)")
        self.assertEqual(self.host.pushed[1]["trigger"], True)

    async def ring(self, timer: dict[str, Any], late: float = 0.0) -> None:
        """What the host does when a timer is due."""
        if timer["cron"] is None:
            del self.host.timers[timer["id"]]
        names = ("id", "name", "payload", "session")
        given = {name: timer[name] for name in names}
        await self.rig.step("timer", plugin="", due=time.time() - late, missed=late > 60, **given)

    async def test_the_host_keeps_the_time_of_jobs(self) -> None:
        await self.plugin("")
        await self.run_in("""
            from nekro_agent.api import recurring_timer as rt
            await rt.create_cron_job(ctx.chat_key, "0 8 * * *", "wake up", "Asia/Shanghai")
            await rt.create_cron_job(ctx.chat_key, "0 8 * * sat#1", "market", "UTC")
        """)
        daily, market = sorted(self.host.timers.values(), key=lambda it: it["text"], reverse=True)
        self.assertEqual((daily["cron"], daily["timezone"], daily["session"]), ("0 8 * * *", "Asia/Shanghai", CHAT))
        first = daily["due"]
        await self.ring(daily)
        self.assertEqual([it["text"] for it in self.host.pushed], ["⏰ A recurring timer has gone off: wake up"])
        self.assertEqual(self.host.timers[daily["id"]]["due"], first)
        # Missed by more than the job allows: it waits for its next time.
        await self.ring(daily, late=900)
        self.assertEqual(len(self.host.pushed), 1)
        # croniter understands what the host does not; the time is set anew each time.
        await self.ring(market)
        self.assertEqual(self.host.pushed[1]["text"], "⏰ A recurring timer has gone off: market")
        self.assertIn(market["id"], self.host.timers)

    async def test_a_callback_runs_here(self) -> None:
        await self.plugin("")
        await self.run_in("""
            import time
            from nekro_agent.services.timer.timer_service import timer_service
            async def ring(): await ctx.push_system("rang")
            await timer_service.set_timer(ctx.chat_key, int(time.time()) + 1, "", callback=ring)
        """)
        await self.until_pushed()
        self.assertEqual(self.host.pushed[0]["text"], "rang")

    async def test_jobs_come_again(self) -> None:
        await self.plugin("")
        told = await self.run_in("""
            from nekro_agent.api import recurring_timer as rt
            job = await rt.create_cron_job(ctx.chat_key, "0 8 * * *", "wake up", "Asia/Shanghai", "mon_fri", "Morning")
            ran = await rt.run_now(job.job_id)
            paused = (await rt.pause_job(job.job_id)).status
            resumed = await rt.resume_job(job.job_id)
            listed = [(j.title, j.status) for j in await rt.list_jobs(ctx.chat_key)]
            moment = resumed.next_run_at
            await rt.update_job(job.job_id, cron_expr="30 9 * * *")
            counts = (await rt.get_job_summary(ctx.chat_key, 5, 5))[:2]
            await rt.delete_job(job.job_id)
            return ran, paused, listed, (moment.hour, moment.minute), moment.weekday() < 5, counts, await rt.list_jobs(ctx.chat_key)
        """)
        self.assertEqual(told, "(True, 'paused', [('Morning', 'active')], (0, 0), True, (1, 0), [])")
        self.assertEqual(self.host.pushed[0]["text"], "⏰ A recurring timer has gone off: [Morning] wake up")
        for wrong in ("create_cron_job(ctx.chat_key, 'x', 'y', 'UTC')", "create_cron_job(ctx.chat_key, '* * * * *', 'y', 'Mars')", "get_job('!!')"):
            with self.assertRaises(StepError, msg=wrong):
                await self.run_in(f"from nekro_agent.api import recurring_timer as rt\nawait rt.{wrong}")


    async def test_days_of_a_kind(self) -> None:
        await self.plugin("")
        told = await self.run_in("""
            from datetime import datetime
            from zoneinfo import ZoneInfo
            from nekro_agent.models.db_recurring_timer_job import DBRecurringTimerJob
            from nekro_agent.services.timer.recurring_timer_service import next_run
            eve = datetime(2024, 9, 30, 12, tzinfo=ZoneInfo("Asia/Shanghai"))
            def first(mode):
                job = DBRecurringTimerJob(cron_expr="0 8 * * *", timezone="Asia/Shanghai", workday_mode=mode)
                return next_run(job, eve).astimezone(eve.tzinfo).strftime("%m-%d")
            return [first(mode) for mode in ("none", "mon_fri", "weekend", "cn_workday", "cn_restday")]
        """)
        # In the week of the national holiday, work begins on the 8th of October.
        self.assertEqual(eval(told), ["10-01", "10-01", "10-05", "10-08", "10-01"])


class Vectors(Scene):
    async def test_vectors_are_kept_without_a_server(self) -> None:
        await self.plugin("")
        told = await self.run_in("""
            from qdrant_client import models
            from nekro_agent.api.core import get_qdrant_client
            client = await get_qdrant_client()
            name = plugin.get_vector_collection_name("cats")
            await client.create_collection(name, vectors_config=models.VectorParams(size=2, distance=models.Distance.COSINE))
            points = [models.PointStruct(id=1, vector=[1.0, 0.0], payload={"a": "x"}), models.PointStruct(id=2, vector=[0.0, 1.0], payload={"a": "y"})]
            await client.upsert(name, points=points)
            found = await client.query_points(name, query=[0.1, 0.9], limit=1)
            return [point.payload["a"] for point in found.points], client is await get_qdrant_client()
        """)
        self.assertEqual(told, "(['y'], True)")


class Routes(Scene):
    async def test_a_plugin_has_routes_of_its_own(self) -> None:
        self.write("web/index.html", "<b>page</b>", head="")
        await self.plugin(
            """
            from fastapi import APIRouter, Depends
            from nekro_agent.services.user.deps import get_current_active_user, get_current_super_user
            plugin.webui_path = "web/index.html"

            @plugin.mount_router()
            def routes():
                router = APIRouter()

                @router.get("/hello/{name}")
                async def hello(name: str):
                    return {"hello": name}

                @router.get("/me")
                async def me(user=Depends(get_current_active_user)):
                    return {"me": user.username}

                @router.get("/root", dependencies=[Depends(get_current_super_user)])
                async def root():
                    return 1
                return router
            """,
            name="web/../probe.py",
        )
        told = await self.run_in("""
            import httpx
            from callgate_worker.flavours.nekro import FLAVOUR
            app = FLAVOUR.web(plugin.key)
            user = {"x-callgate-user": "ann"}
            async with httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://p") as c:
                return [(r.status_code, r.text) for r in (await c.get("/hello/you"), await c.get("/me"), await c.get("/me", headers=user),
                        await c.get("/root", headers=user), await c.get("/root", headers=user | {"x-callgate-role": "operator"}),
                        await c.get("/__webui__/index.html"), await c.get("/__webui__/../probe.py"))]
        """)
        statuses = [status for status, _ in eval(told)]
        self.assertEqual(statuses, [200, 401, 200, 403, 200, 200, 404])
        self.assertEqual(eval(told)[2][1], '{"me":"ann"}')
        await self.plugin("", name="probe.py")
        self.assertEqual(await self.run_in("from callgate_worker.flavours.nekro import FLAVOUR\nreturn FLAVOUR.web(plugin.key)"), "None")


class Missing(Scene):
    async def test_what_is_not_configured_is_named(self) -> None:
        await self.plugin("")
        for source, told in {
            "await ctx.get_onebot_v11_bot()": "OneBot",
            "from nekro_agent.services.agent.run_agent import limited_run_code\nawait limited_run_code()": "host runs code",
        }.items():
            with self.assertRaisesRegex(StepError, told):
                await self.run_in(source)

    async def test_every_module_of_the_package_imports(self) -> None:
        await self.plugin("")
        failed = await self.run_in("""
            import importlib, pkgutil, nekro_agent
            failed = []
            for module in pkgutil.walk_packages(nekro_agent.__path__, "nekro_agent."):
                try:
                    importlib.import_module(module.name)
                except Exception as error:
                    failed.append((module.name, repr(error)))
            return failed
        """)
        self.assertEqual(failed, "[]")

    async def test_languages(self) -> None:
        await self.plugin("")
        told = await self.run_in("""
            from nekro_agent.api.i18n import SupportedLang, get_text, i18n_text
            text = i18n_text(zh_CN="好", en_US="good")
            return text, get_text(text, "-", SupportedLang.EN_US), get_text(None, "-"), plugin.get_name()
        """)
        self.assertEqual(eval(told), ({"zh-CN": "好", "en-US": "good"}, "good", "-", "Probe"))


if __name__ == "__main__":
    unittest.main()
