// What an operator keeps an eye on: the overview, turns, logs, clients, timers, settings, models.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { after, before, test } from "node:test";
import { Scene, barriers, log, say } from "./scene.mjs";

const { io } = createRequire(new URL("../package.json", import.meta.url))("socket.io-client");

let scene, page;
before(async () => {
  scene = await Scene.open();
  page = await scene.page();
});
after(async () => {
  await scene?.close();
  assert.deepEqual(scene?.outside, [], "nobody else was asked for anything");
  assert.deepEqual(scene?.complaints, [], "the page complained about nothing");
});

const nav = (name) => page.getByRole("navigation", { name: "Callgate" }).getByRole("link", { name }).click();
const answered = () => log(page).getByText("A plain answer.").first().waitFor();

test("turns, tokens and cost are seen over time", async () => {
  await say(page, "Hello");
  await answered();
  await nav("Overview");
  await page.getByRole("img", { name: /^Turns: [1-9]/ }).waitFor();
  await page.getByRole("img", { name: /^Tokens: 154/ }).waitFor();
  await page.getByText("As a table").first().click();
  await page.getByRole("columnheader", { name: "Errors" }).waitFor();
  await page.getByRole("table", { name: "Memory" }).getByText("callgate").first().waitFor();
  await page.getByText(/waiting warm/).waitFor();
  await page.getByRole("cell", { name: "fake" }).waitFor();
  await page.getByRole("button", { name: "30 days" }).click();
  await page.getByRole("img", { name: /^Turns: [1-9]/ }).waitFor();
  await page.getByRole("button", { name: "Check" }).click();
  await page.getByText(/fine|could be better/).first().waitFor({ state: "attached" });
});

test("a turn shows the prompt as it was sent, a timeline, and replays the same", async () => {
  await nav("Turns");
  await page.getByRole("row").nth(1).getByRole("link").click();
  await page.getByRole("img", { name: /^Timeline: Round 1/ }).waitFor();
  await page.getByText("What the model was asked").click();
  await page.getByText(/# How you act/).waitFor();
  await page.getByRole("button", { name: "JSON" }).click();
  await page.getByText(/"role": "system"/).waitFor();
  await page.getByRole("button", { name: "Replay" }).click();
  await page.getByText("Replayed from its record: everything is the same.").waitFor();
  const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("link", { name: "Capsule" }).click()]);
  assert.match(download.suggestedFilename(), /capsule/);
  const [journal] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Export" }).click()]);
  assert.match(journal.suggestedFilename(), /^turn-.*\.json$/);
});

for (const scheme of ["light", "dark"]) {
  test(`nothing stands in anybody's way where there is much to see, ${scheme}`, async () => {
    await page.emulateMedia({ colorScheme: scheme });
    assert.deepEqual(await barriers(page), [], "a turn");
    for (const where of ["overview", "methods/builtin/now", "logs", "chat"]) {
      await page.goto(`${scene.origin}/#/${where}`);
      await page.locator("#main h1").first().waitFor();
      await page.waitForLoadState("networkidle");
      assert.deepEqual(await barriers(page), []);
    }
    await nav("Turns");
    await page.getByRole("row").nth(1).getByRole("link").first().click();
    await page.getByRole("img", { name: /^Timeline/ }).waitFor();
  });
}

test("turns appear while one looks", async () => {
  await nav("Turns");
  await page.getByRole("row").nth(1).waitFor();
  const before = await page.getByRole("row").count();
  await page.evaluate(() => fetch("/api/sessions/web:FriendMessage:operator/messages", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ text: "said elsewhere" }) }));
  await page.waitForFunction((before) => document.querySelectorAll("tr").length > before, before);
});

test("the log is read, sieved, and goes on", async () => {
  await nav("Logs");
  await page.getByRole("combobox", { name: "Level" }).selectOption("debug");
  await page.locator("ol summary").first().waitFor();
  await page.getByRole("searchbox", { name: "Search" }).fill("no such words in any line");
  await page.getByText("Nothing of that was written.").waitFor();
});

test("a client asks, and is let in", async () => {
  await nav("Clients");
  const options = { transports: ["websocket"], extraHeaders: { Origin: "http://127.0.0.1:8000" }, auth: { clientId: "Tavern-1", clientType: "extension", key: "getKey" } };
  const socket = io(`${scene.origin}/sillytavern`, options);
  try {
    socket.emit("IDENTIFY_SILLYTAVERN", { clientId: "Tavern-1" });
    await page.getByText("Tavern-1 asks to be let in").waitFor();
    await page.getByRole("button", { name: "Let in" }).click();
    await page.getByRole("row", { name: /Tavern-1.*approved/ }).waitFor();
    await page.getByRole("button", { name: "Revoke" }).click();
    await page.getByRole("row", { name: /Tavern-1.*revoked/ }).waitFor();
  } finally {
    socket.disconnect();
  }
});

test("a timer waits, and is cancelled", async () => {
  await nav("Chat");
  await say(page, "Please remind me");
  await log(page).getByText(/timer/i).first().waitFor();
  await nav("Timers");
  await page.getByRole("cell", { name: "Water the fern.", exact: true }).waitFor();
  await page.getByRole("button", { name: "Cancel Water the fern." }).click();
  await page.getByText("No timer waits.").waitFor();
});

test("a setting is changed, holds, and goes back", async () => {
  await nav("Settings");
  await page.getByRole("searchbox", { name: "Search" }).fill("approval ask");
  const box = page.getByRole("region", { name: "approval" }).getByRole("textbox").first();
  await box.fill("remember");
  await box.blur();
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Saved. It holds from now on.").waitFor();
  await nav("Methods");
  await page.getByRole("link", { name: /^remember\b/ }).click();
  await page.getByText("asks you first").waitFor();
});

test("a model is added, tested, put in order and made the default", async () => {
  await nav("Models");
  await page.getByRole("link", { name: "Add a model" }).click();
  await page.getByLabel("Address").fill(scene.model.url);
  await page.getByLabel("Model", { exact: true }).fill("second");
  await page.getByLabel("Key", { exact: true }).fill("none-at-all");
  await page.getByRole("button", { name: "Test", exact: true }).click();
  await page.getByText(/answered in \d+ ms/).waitFor();
  await page.getByRole("button", { name: "Test and add" }).click();
  const second = page.locator("li", { has: page.locator("strong", { hasText: /^second$/ }) });
  await second.getByText("default", { exact: true }).waitFor();
  await second.getByRole("combobox").selectOption("fake");
  await second.getByText(/1\. fake/).waitFor();
  const first = page.locator("li", { has: page.locator("strong", { hasText: /^fake$/ }) });
  await first.getByRole("button", { name: "Make default" }).click();
  await first.getByText("default", { exact: true }).waitFor();
  await second.getByRole("button", { name: "Delete" }).click();
  await second.waitFor({ state: "detached" });
});

test("a character card becomes a persona", async () => {
  await nav("Personas");
  const card = { spec: "chara_card_v2", spec_version: "2.0", data: { name: "Captain", description: "A captain of few words.", first_mes: "Aye.", personality: "", scenario: "", mes_example: "", system_prompt: "" } };
  await page.getByLabel("Import").setInputFiles({ name: "captain.json", mimeType: "application/json", buffer: Buffer.from(JSON.stringify(card)) });
  await page.getByRole("heading", { name: /captain/i }).waitFor();
  await page.getByRole("region", { name: "Resulting prompt" }).getByText(/A captain of few words/).first().waitFor();
});
