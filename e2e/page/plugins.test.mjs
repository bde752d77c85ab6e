// Plugins as the operator sees them: health, methods, settings that hold at once, logs, their own
// pages, and putting in another.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { zip } from "./files.mjs";
import { Scene, barriers, log, say } from "./scene.mjs";

let scene, page;
before(async () => {
  scene = await Scene.open({ plugins: ["bakery", "garden", "weather"] });
  page = await scene.page();
});
after(async () => {
  await scene?.close();
  assert.deepEqual(scene?.outside, [], "nobody else was asked for anything");
  // What a plugin's page is refused, the browser says aloud.
  const own = scene?.complaints.filter((each) => !/from origin 'null' has been blocked/.test(each));
  assert.deepEqual(own, [], "the page complained about nothing");
});

const nav = (name) => page.getByRole("navigation", { name: "Callgate" }).getByRole("link", { name }).click();
const tab = (name) => page.locator("nav.tabs").getByRole("link", { name, exact: true }).click();
const plugin = async (name) => {
  await nav("Plugins");
  await page.getByRole("link", { name: new RegExp(`^${name}`) }).click();
  await page.getByRole("heading", { name, exact: true }).waitFor();
};

/** Calls a method with the form that its schema makes; what came back. */
async function tried(method, fields) {
  await nav("Methods");
  await page.getByRole("link", { name: new RegExp(`^${method}\\b`) }).click();
  for (const [name, text] of Object.entries(fields)) await page.getByLabel(name, { exact: false }).first().fill(text);
  await page.getByRole("button", { name: "Call", exact: true }).click();
  return page.getByRole("status").locator("pre").textContent();
}

test("a plugin shows how it does and what it brings", async () => {
  await plugin("Garden");
  await page.getByText("running", { exact: true }).waitFor();
  await page.getByText(/^\d+ MB$/).waitFor();
  await page.getByRole("link", { name: "water" }).waitFor();
  await page.getByText("nekro", { exact: true }).waitFor();
});

test("a Nekro method and an AstrBot tool are tried by hand", async () => {
  assert.match(await tried("water", { plant: "fern" }), /Ann gave 2 litres to fern; the pump has no token/);
  assert.match(await tried("look_up", { city: "Oslo" }), /Oslo: sunny, 10 metres/);
  await page.getByText(/calls/i).first().waitFor();
});

test("how far a method has come is seen while it works", async () => {
  await nav("Chat");
  await say(page, "Bake bread");
  const bar = log(page).getByRole("progressbar", { name: "bake" });
  await bar.waitFor();
  assert.deepEqual(await bar.evaluate((it) => [it.value, it.max]), [1, 3]);
  await log(page).getByText("kneading", { exact: true }).waitFor();
  const call = () => fetch("/api/methods/take_out/call", { method: "POST", headers: { "Content-Type": "application/json" }, body: "{}" }).then((it) => it.status);
  assert.equal(await page.evaluate(call), 200);
  await log(page).getByRole("paragraph").filter({ hasText: /^a loaf$/ }).waitFor();
  await bar.waitFor({ state: "detached" });
});

test("a Nekro plugin's settings are saved, hold at once, and its secret is never shown", async () => {
  await plugin("Garden");
  await tab("Settings");
  await page.getByLabel("Gardener").fill("Ben");
  await page.getByLabel("Litres a day").fill("7");
  await page.getByLabel("Token of the pump").fill("s3cret-token");
  await page.getByRole("button", { name: "Add to Plants" }).click();
  await page.getByLabel(/2$/).first().fill("rose");
  await page.getByRole("button", { name: "Add to Beds" }).click();
  await page.getByLabel("Name of the bed").fill("South");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Saved. Changes apply immediately.").waitFor();
  assert.match(await tried("water", { plant: "rose" }), /Ben gave 7 litres to rose; the pump has token/);
  await page.reload();
  await plugin("Garden");
  await tab("Settings");
  await page.getByRole("textbox", { name: "Gardener" }).waitFor();
  assert.equal(await page.getByLabel("Gardener").inputValue(), "Ben");
  assert.equal(await page.getByLabel("Name of the bed").inputValue(), "South");
  assert.equal(await page.getByLabel("Token of the pump").inputValue(), "");
  const told = await page.evaluate(async () => {
    const all = await (await fetch("/api/plugins")).json();
    const id = all.items.find((it) => it.name === "Garden").id;
    return (await fetch(`/api/plugins/${encodeURIComponent(id)}/config`)).text();
  });
  assert.match(told, /South/);
  assert.doesNotMatch(told, /s3cret-token/);
});

test("a value that does not fit is told beside its field, and nothing is saved", async () => {
  await page.getByLabel("Litres a day").evaluate((box) => box.removeAttribute("max"));
  await page.getByLabel("Litres a day").fill("900");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("alert").waitFor();
  assert.equal(await page.getByLabel("Litres a day").getAttribute("aria-invalid"), "true");
  await page.getByRole("button", { name: "Discard changes" }).click();
  assert.equal(await page.getByLabel("Litres a day").inputValue(), "7");
});

test("an AstrBot plugin's settings are saved and hold at once", async () => {
  await plugin("astrbot_plugin_weather");
  await tab("Settings");
  await page.getByLabel(/sky/i).selectOption("rainy");
  await page.getByLabel(/Metres above the sea/).fill("320");
  await page.getByLabel(/Persona that tells it/).selectOption("default");
  await page.getByLabel(/Model that is asked/).selectOption("fake");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Saved. Changes apply immediately.").waitFor();
  assert.match(await tried("look_up", { city: "Lima" }), /Lima: rainy, 320 metres/);
});

test("a plugin is disabled in one chat, and its methods are gone from there", async () => {
  await plugin("Garden");
  const here = page.getByRole("checkbox", { name: "web:FriendMessage:operator" });
  await here.uncheck();
  await page.waitForFunction(async () => (await (await fetch("/api/plugins?session=web:FriendMessage:operator")).json()).items.some((it) => it.name === "Garden" && !it.enabled_here));
  const ran = await page.evaluate(async () => (await fetch("/api/runs", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ code: "water('fern')" }) })).json());
  assert.equal(ran.stop, "error");
  await here.check();
  await page.waitForFunction(async () => (await (await fetch("/api/plugins?session=web:FriendMessage:operator")).json()).items.some((it) => it.name === "Garden" && it.enabled_here));
});

test("what a plugin writes is seen as it writes it", async () => {
  await plugin("Garden");
  const reads = [];
  page.on("request", (request) => /\/logs\?limit/.test(request.url()) && reads.push(request));
  const answered = (what) => page.waitForResponse((response) => what.test(response.url()));
  await Promise.all([answered(/events\?topics=logs/), answered(/\/logs\?limit/), tab("Log")]);
  for (const plant of ["tulip", "oak"]) {
    const ran = await page.evaluate(async (plant) => (await fetch("/api/runs", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ code: `water('${plant}')` }) })).json(), plant);
    assert.equal(ran.stop, "finished", ran.error);
    await page.getByRole("log", { name: "Log" }).getByText(`watering ${plant}`).waitFor();
  }
  assert.equal(reads.length, 1, "they came by themselves");
});

for (const scheme of ["light", "dark"]) {
  test(`nothing stands in anybody's way on a plugin's sheets, ${scheme}`, async () => {
    await page.emulateMedia({ colorScheme: scheme });
    const whole = { About: "dl dt", Settings: "form .bar", Log: ".lines p" };
    for (const [name, sheets] of [["Garden", ["About", "Settings", "Log"]], ["astrbot_plugin_weather", ["Settings"]]]) {
      await plugin(name);
      for (const sheet of sheets) {
        await tab(sheet);
        await page.locator(`#main ${whole[sheet]}`).first().waitFor();
        assert.deepEqual(await barriers(page), []);
      }
    }
  });
}

test("a plugin's page runs as nobody: it reaches neither our interface nor our page", async () => {
  await plugin("Garden");
  await tab("Web page");
  const told = page.frameLocator("iframe").locator("#told");
  await told.filter({ hasText: /refused|REACHED/ }).waitFor();
  assert.doesNotMatch(await told.textContent(), /REACHED/);
  // What it loads and asks of its own routes comes to it all the same.
  const own = page.frameLocator("iframe").locator("#own");
  await own.filter({ hasText: "fern,tickets,operator" }).waitFor();
  // Nor when it is opened by itself.
  const alone = await page.context().newPage();
  await alone.goto(`${scene.origin}${await page.locator("iframe").getAttribute("src")}`);
  await alone.locator("#told").filter({ hasText: /refused|REACHED/ }).waitFor();
  assert.doesNotMatch(await alone.locator("#told").textContent(), /REACHED/);
  await alone.close();
});

test("a plugin is installed with a log, shows its failure after a bad change, and is removed", async () => {
  const folder = join(scene.data, "given", "counter");
  await mkdir(folder, { recursive: true });
  const source = (body) => `"""Counts."""\nfrom callgate import method\n\n${body}\n`;
  writeFileSync(join(folder, "__init__.py"), source('@method\ndef count_up(number: int) -> int:\n    """One more.\n\n    Args:\n        number: To begin with.\n    """\n    return number + 1'));
  await nav("Plugins");
  await page.getByRole("link", { name: "Install a plugin" }).first().click();
  await page.getByLabel("Folder, ZIP or repository").fill(folder);
  await page.getByRole("button", { name: "Install a plugin" }).click();
  await page.getByText("done", { exact: true }).waitFor();
  assert.ok((await page.locator("pre.lines").textContent()).length > 0, "it says what it does");
  await page.getByRole("link", { name: "Open it" }).click();
  await page.getByRole("link", { name: "count_up" }).waitFor();
  const id = decodeURIComponent(page.url().split("/").pop());
  assert.match(await tried("count_up", { number: "41" }), /42/);
  const installed = await page.evaluate(async (id) => (await (await fetch(`/api/plugins/${encodeURIComponent(id)}`)).json()).folder, id);
  writeFileSync(join(scene.data, "plugins", installed, "__init__.py"), source("boom = missing_name"));
  await page.goto(`${scene.origin}/#/plugins/${encodeURIComponent(id)}`);
  await page.getByRole("button", { name: "Reload" }).click();
  await page.getByText("failed", { exact: true }).first().waitFor();
  await page.getByText(/NameError: name 'missing_name'/).first().waitFor();
  await page.getByText("Traceback", { exact: true }).waitFor();
  await page.getByText(/the version before goes on/).first().waitFor();
  assert.match(await tried("count_up", { number: "41" }), /42/);
  await page.goto(`${scene.origin}/#/plugins/${encodeURIComponent(id)}`);
  await page.getByRole("button", { name: "Remove" }).click();
  await page.getByRole("heading", { name: "Plugins" }).waitFor();
  await page.getByRole("link", { name: /counter/ }).waitFor({ state: "detached" });
});

test("an install that cannot work says why", async () => {
  await page.getByRole("link", { name: "Install a plugin" }).first().click();
  await page.getByLabel("Folder, ZIP or repository").fill("/nowhere/at/all");
  await page.getByRole("button", { name: "Install a plugin" }).click();
  await page.getByText("failed", { exact: true }).or(page.getByRole("alert")).first().waitFor();
});

/** Follows an installation to its end, and opens what came of it. */
async function installed() {
  await page.getByRole("region", { name: "Progress" }).getByText("done", { exact: true }).waitFor();
  await page.getByRole("link", { name: "Open it" }).click();
}

async function removed(name) {
  await plugin(name);
  await page.getByRole("button", { name: "Remove" }).click();
  await page.getByRole("heading", { name: "Plugins" }).waitFor();
  await page.getByRole("link", { name: new RegExp(`^${name}`) }).waitFor({ state: "detached" });
}

test("a plugin is uploaded as a ZIP, and works", async () => {
  await nav("Plugins");
  await page.getByRole("link", { name: "Install a plugin" }).first().click();
  await page.getByRole("button", { name: "Upload a ZIP" }).click();
  const source = '"""Greets."""\nfrom callgate import tool\n\n\n@tool\ndef greet(guest: str) -> str:\n    """Greet somebody.\n\n    Args:\n        guest: Whom.\n    """\n    return f"Good day, {guest}."\n';
  const upload = (buffer) => page.getByLabel("ZIP file").setInputFiles({ name: "greeter.zip", mimeType: "application/zip", buffer });
  await upload(Buffer.from("this is no archive"));
  await page.getByRole("alert").getByText("this is no ZIP archive").waitFor();
  await upload(zip({ "greeter/__init__.py": source }));
  await installed();
  await page.getByRole("heading", { name: "greeter" }).waitFor();
  await page.getByRole("link", { name: "greet", exact: true }).waitFor();
  assert.match(await tried("greet", { guest: "Ada" }), /Good day, Ada\./);
  await removed("greeter");
});

test("a new plugin is made to begin with, and works", async () => {
  await nav("Plugins");
  await page.getByRole("link", { name: "Install a plugin" }).first().click();
  await page.getByRole("button", { name: "Start a new one" }).click();
  await page.getByLabel("Name", { exact: true }).fill("my_first");
  await page.getByRole("button", { name: "Create" }).click();
  await installed();
  await page.getByRole("heading", { name: "my_first" }).waitFor();
  assert.match(await tried("count_words", { text: "to be or not to be" }), /"to": 2/);
  await removed("my_first");
});

test("a method with the name of a built-in one is warned of", async () => {
  const folder = join(scene.data, "given", "clock");
  await mkdir(folder, { recursive: true });
  writeFileSync(join(folder, "__init__.py"), '"""A clock."""\nfrom callgate import method\n\n@method\ndef now() -> str:\n    """Another clock."""\n    return "teatime"\n');
  await nav("Plugins");
  await page.getByRole("link", { name: "Install a plugin" }).first().click();
  await page.getByLabel("Folder, ZIP or repository").fill(folder);
  await page.getByRole("button", { name: "Install a plugin" }).click();
  await installed();
  const warning = page.getByRole("note").filter({ hasText: "now means this plugin's method and not builtin/now" });
  await warning.waitFor();
  await warning.getByRole("link", { name: "Settings" }).waitFor();
  await removed("clock");
});
