"""The query façade: an expression, one host call."""

import unittest

from nekro_host import CHAT, Scene, StepError


class Queries(Scene):
    async def asyncSetUp(self) -> None:
        await super().asyncSetUp()
        await self.plugin("")
        for number, name in enumerate(["Alice", "Bob", "Cleo", "Bob"], 1):
            self.host.add(
                "chat_message", chat_key=CHAT, sender_id=str(number), sender_name=name, sender_nickname=name,
                platform_userid=str(number), content_text=f"text {number}", content_data="[]", ext_data="{}",
                message_id=f"m{number}", send_timestamp=number * 10, chat_type="group", is_tome=0,
            )

    async def told(self, source: str) -> object:
        return eval(await self.run_in(source))

    async def test_the_verbs_plugins_use(self) -> None:
        self.assertEqual(await self.told("""
            q = DBChatMessage.filter(chat_key=ctx.chat_key)
            rows = await q.filter(send_timestamp__gte=20).order_by("-send_timestamp").offset(1).limit(2)
            first = await q.order_by("-id").first()
            none = await DBChatMessage.get_or_none(message_id="nope")
            one = await DBChatMessage.get(message_id="m2")
            others = await DBChatMessage.exclude(sender_name="Bob").all()
            each = [m.id async for m in q.exclude(id__in=[1, 2])]
            return ([m.id for m in rows], first.id, none, one.sender_name, [m.id for m in others], each,
                    await q.count(), await q.filter(sender_name="Zoe").exists(), await DBChatMessage.exists(id=1),
                    await q.limit(2).values("id", "sender_name"), await q.limit(2).values_list("id", flat=True),
                    (await q.last()).id)
        """), ([3, 2], 4, None, "Bob", [1, 3], [3, 4], 4, False, True,
               [{"id": 1, "sender_name": "Alice"}, {"id": 2, "sender_name": "Bob"}], [1, 2], 4))

    async def test_each_await_is_one_host_call(self) -> None:
        before = len(self.rig.calls)
        await self.run_in("await DBChatMessage.filter(chat_key=ctx.chat_key, id__gt=1).exclude(id=3).order_by('id').limit(5)")
        name, asked = self.rig.calls[before]
        self.assertEqual((name, len(self.rig.calls) - before), ("query", 1))
        self.assertEqual(asked, {
            "model": "chat_message", "filters": {"chat_key": CHAT, "id__gt": 1}, "excludes": [{"id": 3}],
            "order": ["id"], "offset": 0, "limit": 5, "verb": "list", "values": {},
        })

    async def test_statements_in_sql_read_and_cannot_write(self) -> None:
        await self.plugin("from tortoise import Tortoise", name="raw.py")
        ranked = "SELECT m.sender_name AS name, COUNT(*) AS n, COUNT(*) FILTER (WHERE m.is_tome = FALSE) AS loose " \
                 "FROM chat_message m WHERE m.chat_key = $1 AND m.send_timestamp >= $2 GROUP BY m.sender_name ORDER BY n DESC LIMIT $3"
        told = await self.told(f"""
            from tortoise import Tortoise
            connection = Tortoise.get_connection("default")
            return await connection.execute_query_dict({ranked!r}, [ctx.chat_key, 20, 2])
        """)
        self.assertEqual(told[0], {"name": "Bob", "n": 2, "loose": 2})
        for wrong, why in (("DELETE FROM chat_message", "only read"), ("SELECT * FROM secrets", "no such table")):
            with self.assertRaisesRegex(StepError, why):
                await self.run_in(f"from tortoise import Tortoise\nawait Tortoise.get_connection('default').execute_query_dict({wrong!r})")

    async def test_rows_are_made_changed_and_removed(self) -> None:
        self.assertEqual(await self.told("""
            user = await DBUser.create(username="Bob", adapter_key="onebot_v11", platform_userid=777)
            user.username = "Robert"
            await user.save()
            same, made = await DBUser.get_or_create(platform_userid="777", defaults={"username": "x"})
            other, made_too = await DBUser.get_or_create(platform_userid="8", defaults={"username": "Eve"})
            changed = await DBUser.filter(platform_userid="8").update(username="Eva")
            await other.refresh_from_db()
            await user.delete()
            return (user.platform_userid, same.username, made, same == user, made_too, changed, other.username,
                    [u.username for u in await DBUser.all()], (await DBUser.get_by_union_id("onebot_v11", "777")))
        """), ("777", "Robert", False, True, True, 1, "Eva", ["Eva"], None))

    async def test_only_what_changed_is_written(self) -> None:
        await self.run_in("""
            channel = await DBChatChannel.get_channel(ctx.chat_key)
            await channel.save()
            channel.preset_id = 5
            await channel.save()
        """)
        updates = [asked["values"] for name, asked in self.rig.calls if name == "query" and asked["verb"] == "update"]
        self.assertEqual(updates, [{"preset_id": 5}])

    async def test_what_cannot_be_asked_is_named(self) -> None:
        for source, told in {
            "DBChatMessage.filter(id__regex='x')": "lookup 'regex' (id__regex)",
            "DBChatMessage.filter(colour=1)": "no column 'colour'",
            "DBChatMessage.all().order_by('-colour')": "no column 'colour'",
            "DBChatMessage.all().annotate(n=1)": "cannot do 'annotate'",
            "DBChatMessage.all().prefetch_related('x')": "cannot do 'prefetch_related'",
        }.items():
            with self.assertRaises(StepError, msg=source) as caught:
                await self.run_in(f"await {source}")
            self.assertIn(told, caught.exception.error["message"])
        with self.assertRaisesRegex(StepError, "MultipleObjectsReturned"):
            await self.run_in("await DBChatMessage.get(sender_name='Bob')")
        with self.assertRaisesRegex(StepError, "DoesNotExist"):
            await self.run_in("await DBChatMessage.get(id=99)")
        with self.assertRaisesRegex(StepError, "has no column 'shoe'"):
            await self.run_in("await DBUser.create(shoe=1)")

    async def test_a_channel_and_its_persona(self) -> None:
        self.host.add("preset", name="Cat", title="", content="meow")
        self.assertEqual(await self.told("""
            channel = await DBChatChannel.get_channel(chat_key=ctx.chat_key)
            before = (await channel.get_preset()).name
            changed = await ctx.set_preset(1), await ctx.set_preset(1)
            after = (await ctx.current_preset()).content
            new = await DBChatChannel.get_or_create("discord", "group_5", channel.chat_type, "Five")
            return before, changed, after, new.chat_key, channel.chat_type.value, channel.channel_status.value
        """), ("Assistant", (True, False), "meow", "discord-group_5", "group", "active"))

    async def test_a_message_row_tells_itself(self) -> None:
        self.host.tables["chat_message"][0]["content_data"] = '[{"type":"text","text":"see "},{"type":"image","url":"/app/uploads/a.png"}]'
        self.assertEqual(await self.told("""
            from nekro_agent.core.config import config
            row = await DBChatMessage.filter(id=1).first()
            line = row.parse_chat_history_prompt("code", config)
            return [s.text for s in row.parse_content_data()], line.split("] ", 1)[1]
        """), (["see ", "[Image: a.png]"], '"Alice" 说: see <code | Image:/app/uploads/a.png>'))

    async def test_bans_are_dates(self) -> None:
        self.assertEqual(await self.told("""
            from datetime import datetime, timedelta
            user = await DBUser.create(username="B", adapter_key="a", platform_userid="1",
                                       ban_until=datetime.now() + timedelta(hours=1))
            return user.is_active, user.is_prevent_trigger, user.unique_id
        """), (False, False, "a:1"))


if __name__ == "__main__":
    unittest.main()
