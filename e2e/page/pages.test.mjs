// Every other page: what it shows, and that it works.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Scene, log, say } from "./scene.mjs";

let scene, page;
before(async () => {
  scene = await Scene.open({ config: '[approval]\nask = ["forget"]\n' });
  page = await scene.page();
});
after(async () => {
  await scene?.close();
  assert.deepEqual(scene?.outside, [], "nobody else was asked for anything");
  assert.deepEqual(scene?.complaints, [], "the page complained about nothing");
});

const open = (name) => page.getByRole("navigation", { name: "Callgate" }).getByRole("link", { name }).click();

test("a method is found, tried and copied", async () => {
  await open("Methods");
  await page.getByRole("searchbox", { name: "Search methods" }).fill("now");
  await page.getByRole("link", { name: /^now\b/ }).click();
  await page.getByLabel(/zone/).fill("Asia/Tokyo");
  await page.getByRole("button", { name: "Call", exact: true }).click();
  await page.getByRole("status").getByText(/\+09:00|Asia\/Tokyo/).waitFor();
  await page.getByText('now(zone="Asia/Tokyo")', { exact: true }).waitFor();
  await page.getByRole("button", { name: "curl" }).click();
  await page.getByRole("group", { name: "Copy as" }).getByRole("button", { name: "Copy" }).click();
  assert.match(await page.evaluate(() => navigator.clipboard.readText()), /^curl .*\/api\/methods\/now\/call/);
  await page.getByText("Last calls").waitFor();
  await page.getByText("Who can call it").waitFor();
  await page.getByRole("complementary").getByRole("link", { name: "default" }).waitFor();
  for (const form of ["Python", "Socket.IO", "MCP"]) {
    await page.getByRole("button", { name: form, exact: true }).click();
    await page.locator("pre.sample").filter({ hasText: "now" }).waitFor();
  }
  await page.getByLabel(/zone/).fill("Nowhere/Land");
  await page.getByRole("button", { name: "Call", exact: true }).click();
  await page.getByRole("alert").waitFor();
});

test("code runs in the playground", async () => {
  await open("Playground");
  const box = page.getByRole("textbox", { name: "Code" });
  await box.fill('remember("colour", "blue")\nprint(recall("colour")[0]["text"])\nboom');
  await box.press("Control+Enter");
  await page.getByText("NameError: name 'boom' is not defined").waitFor();
  assert.match(await page.locator(".line.mark").textContent(), /boom/);
  await page.locator("summary", { hasText: "recall" }).waitFor();
  await page.getByText("blue", { exact: true }).waitFor();
});

test("examples are at hand, and each does what it says", async () => {
  const seen = page.getByRole("region", { name: "Result" });
  for (const [name, shown] of [["Clocks", /\d\d:\d\d  Asia\/Tokyo/], ["Notes", /colour is blue/], ["A chart of text", /█ 100/], ["Trying to get out", /(Permission|OS|gai)\w*Error/]]) {
    await page.getByRole("group", { name: "Examples:" }).getByRole("button", { name }).click();
    await page.getByRole("button", { name: "Run", exact: true }).click();
    await seen.getByText(shown).first().waitFor();
  }
});

test("what code does is seen while it runs, and what it asks for is answered there", async () => {
  const box = page.getByRole("textbox", { name: "Code" });
  await box.fill('now()\nprint("on my way", flush=True)\nforget("colour")\nprint("never")');
  await box.press("Control+Enter");
  const seen = page.getByRole("region", { name: "Result" });
  await seen.getByText("on my way").first().waitFor();
  await seen.locator("summary", { hasText: "now" }).waitFor();
  assert.equal(await page.getByRole("button", { name: "Running…" }).count(), 1);
  await page.getByRole("button", { name: "Deny" }).click();
  await page.getByRole("button", { name: "Run", exact: true }).waitFor();
  await seen.getByText("MethodError: 'forget' was denied by the operator").waitFor();
});

test("a persona is made, used and deleted", async () => {
  await open("Personas");
  await page.getByRole("link", { name: "New persona" }).click();
  await page.getByLabel("Name", { exact: true }).fill("sailor");
  await page.getByLabel("System prompt").fill("You speak like a sailor.");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("link", { name: "sailor" }).waitFor();
  await open("Chat");
  await page.getByRole("combobox", { name: "Persona" }).selectOption("sailor");
  await say(page, "Hello there");
  await log(page).getByText("A plain answer.").waitFor();
  assert.match(JSON.stringify(scene.model.requests.at(-1)), /You speak like a sailor\./);
  await open("Personas");
  await page.getByRole("link", { name: "sailor" }).click();
  await page.getByLabel("System prompt").fill("You speak like a poet.");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("You speak like a poet.").waitFor();
  await open("Chat");
  await say(page, "Hello again");
  await log(page).getByText("A plain answer.").nth(1).waitFor();
  assert.match(JSON.stringify(scene.model.requests.at(-1)), /You speak like a poet\./, "the next prompt has it");
  await open("Personas");
  await page.getByRole("link", { name: "sailor" }).click();
  // What is being written is seen in the prompt before it is saved.
  await page.getByLabel("System prompt").fill("You speak like a pirate.");
  await page.getByRole("region", { name: "Resulting prompt" }).getByText(/You speak like a pirate\./).first().waitFor();
  await page.getByRole("button", { name: "Delete" }).click();
  await page.getByRole("link", { name: "sailor" }).waitFor({ state: "detached" });
});

test("the built-in persona stays as it is, is copied, and can be gone back to", async () => {
  await page.getByRole("link", { name: "default" }).click();
  await page.getByText("This persona is built in and cannot be changed.").waitFor();
  assert.equal(await page.getByRole("button", { name: "Save" }).count(), 0);
  await page.getByRole("link", { name: "Copy it" }).click();
  await page.getByLabel("Name", { exact: true }).fill("mine");
  assert.match(await page.getByLabel("System prompt").inputValue(), /helpful assistant/);
  await page.getByLabel("Answers when no other persona is chosen").check();
  await page.getByLabel("All methods").uncheck();
  await page.getByRole("searchbox", { name: "Search methods" }).fill("current date");
  await page.getByRole("checkbox", { name: /^now\b/ }).check();
  await page.getByRole("region", { name: "Resulting prompt" }).getByText("def now(").first().waitFor();
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("link", { name: /^mine.*default.*1 method/ }).waitFor();
  await open("Chat");
  const persona = page.getByRole("combobox", { name: "Persona" });
  await persona.locator("option", { hasText: "mine" }).waitFor({ state: "attached" });
  for (const name of ["mine", "default"]) {
    await Promise.all([page.waitForResponse((it) => it.request().method() === "PATCH" && it.ok()), persona.selectOption(name)]);
  }
  await open("Personas");
  await page.getByRole("link", { name: /^mine/ }).click();
  await page.getByLabel("Answers when no other persona is chosen").uncheck();
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("link", { name: /^default.*default/ }).waitFor();
});

test("a key is made, and opens; revoked, it does not", async () => {
  await open("Keys");
  await page.getByRole("combobox", { name: "Scope" }).selectOption("operator");
  await page.getByRole("button", { name: "New key" }).click();
  const key = await page.getByRole("status").locator("pre").textContent();
  assert.match(key, /^callgate_/);
  const visitor = await scene.blank();
  await visitor.goto(scene.origin);
  await visitor.getByLabel("Key").fill("callgate_wrong");
  await visitor.getByRole("button", { name: "Log in" }).click();
  await visitor.getByRole("alert").waitFor();
  await visitor.getByLabel("Key").fill(key);
  await visitor.getByRole("button", { name: "Log in" }).click();
  await visitor.getByRole("navigation").waitFor();
  const rows = page.getByRole("button", { name: /^Revoke callgate|^Revoke / });
  await rows.last().click();
  await page.getByText(/^revoked \d/).waitFor();
  await visitor.reload();
  await visitor.getByRole("button", { name: "Log in" }).waitFor();
});

test("models are listed, and nothing waits for approval", async () => {
  await open("Models");
  await page.getByRole("listitem").filter({ hasText: "fake" }).waitFor();
  await open("Approvals");
  await page.getByText("Nothing is waiting for approval.").waitFor();
});

test("whoever comes without a key is asked for one, and told no more", async () => {
  const visitor = await scene.blank();
  await visitor.goto(scene.origin + "/#/keys");
  await visitor.getByRole("button", { name: "Log in" }).waitFor();
  assert.equal(await visitor.getByRole("navigation").count(), 0);
});
