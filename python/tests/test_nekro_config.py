"""Configuration: one live object, a YAML file, a form."""

import unittest

from nekro_host import Scene, StepError

CONFIG = """
import enum
from pydantic import BaseModel

class Rule(BaseModel):
    word: str = Field(default="", title="Word")
    weight: int = 1

@plugin.mount_config()
class ProbeConfig(ConfigBase):
    COUNT: int = Field(default=3, title="Count", description="How many", ge=1, le=9)
    KEY: str = Field(default="", title="Key", json_schema_extra=ExtraField(is_secret=True, placeholder="sk-").model_dump())
    MODE: Literal["fast", "slow"] = Field(default="fast")
    NAMES: List[str] = Field(default=["a"])
    RULES: List[Rule] = Field(default=[])
    LIMITS: Dict[str, int] = Field(default={})
    RATIO: Optional[float] = None
    MODEL: str = Field(default="default", json_schema_extra=ExtraField(ref_model_groups=True, model_type="chat").model_dump())

config = plugin.get_config(ProbeConfig)

@plugin.mount_sandbox_method(SandboxMethodType.TOOL, "count")
async def count(_ctx: AgentCtx) -> int:
    return config.COUNT
"""


class Config(Scene):
    async def asyncSetUp(self) -> None:
        await super().asyncSetUp()
        self.loaded = await self.plugin(CONFIG)
        self.file = self.rig.root / "data" / "probe.py" / "config.yaml"

    async def set(self, **values: object) -> dict:
        return await self.rig.step("config_set", plugin="me.probe", values=values)

    async def test_the_file_holds_the_defaults_at_once(self) -> None:
        self.assertIn("COUNT: 3\n", self.file.read_text())
        self.assertEqual(self.loaded["config"]["NAMES"], ["a"])

    async def test_a_change_reaches_the_object_that_the_module_holds(self) -> None:
        await self.set(COUNT=5, NAMES=["x", "y"])
        self.assertEqual(await self.call("count"), 5)
        self.assertIn("COUNT: 5\n", self.file.read_text())
        await self.run_in("c = plugin.get_config()\nc.COUNT = 7\nplugin.save_config(c)")
        self.assertEqual(await self.call("count"), 7)
        self.assertIn("COUNT: 7\n", self.file.read_text())
        told = await self.rig.step("config_get", plugin="me.probe")
        self.assertEqual(told["values"]["COUNT"], 7)

    async def test_it_is_all_or_nothing(self) -> None:
        for wrong in ({"COUNT": 10}, {"COUNT": "many"}, {"MODE": "x"}, {"OTHER": 1}, {"RULES": [{"weight": "x"}]}):
            with self.assertRaises(StepError) as caught:
                await self.set(RATIO=0.5, **wrong)
            self.assertIn(next(iter(wrong)), caught.exception.error["message"])
        values = (await self.rig.step("config_get", plugin="me.probe"))["values"]
        self.assertEqual((values["COUNT"], values["RATIO"]), (3, None))

    async def test_a_form_may_send_texts(self) -> None:
        told = await self.set(COUNT="4", NAMES='["q"]', RULES='[{"word": "w"}]', RATIO="0.25", LIMITS='{"a": 1}')
        self.assertEqual(told["values"]["RULES"], [{"word": "w", "weight": 1}])
        self.assertEqual((told["values"]["COUNT"], told["values"]["RATIO"], told["values"]["LIMITS"]), (4, 0.25, {"a": 1}))

    async def test_the_form_knows_each_field(self) -> None:
        fields = (await self.rig.step("config_get", plugin="me.probe"))["schema"]["properties"]
        self.assertEqual(fields["COUNT"], {
            "type": "integer", "title": "Count", "description": "How many", "default": 3, "minimum": 1, "maximum": 9,
        })
        self.assertEqual((fields["KEY"]["is_secret"], fields["KEY"]["placeholder"]), (True, "sk-"))
        self.assertEqual(fields["MODE"]["enum"], ["fast", "slow"])
        self.assertEqual(fields["NAMES"]["items"], {"type": "string"})
        self.assertTrue(fields["MODEL"]["ref_model_groups"])

    async def test_plugins_can_list_fields_themselves(self) -> None:
        told = eval(await self.run_in("""
            from nekro_agent.services.config_service import ConfigService
            return {item["key"]: item for item in ConfigService.get_config_list(plugin.get_config())}
        """))
        self.assertEqual(told["COUNT"], {
            "key": "COUNT", "value": 3, "is_complex": False, "type": "int", "title": "Count",
            "description": "How many", "placeholder": "", "ge": 1, "le": 9,
        })
        self.assertEqual((told["NAMES"]["type"], told["NAMES"]["element_type"]), ("list", "str"))
        self.assertEqual(told["RULES"]["field_schema"]["word"]["title"], "Word")
        self.assertEqual((told["RATIO"]["type"], told["MODE"]["enum"]), ("float", ["fast", "slow"]))

    async def test_settings_can_be_given_before_the_plugin_is_there(self) -> None:
        await self.rig.step("unload", plugin="me.probe")
        loaded = await self.plugin(CONFIG, config={"COUNT": 6})
        self.assertEqual((loaded["config"]["COUNT"], await self.call("count")), (6, 6))

    async def test_a_reload_keeps_what_was_set_and_drops_what_is_gone(self) -> None:
        self.file.write_text("COUNT: 8\nGONE: 1\n")
        loaded = await self.plugin(CONFIG)
        self.assertEqual(loaded["config"]["COUNT"], 8)
        self.assertNotIn("GONE", self.file.read_text())
        self.file.write_text("COUNT: nonsense\n")
        with self.assertRaisesRegex(StepError, "config.yaml"):
            await self.plugin(CONFIG)


if __name__ == "__main__":
    unittest.main()
