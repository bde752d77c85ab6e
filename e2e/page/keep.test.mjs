// What an operator keeps an eye on: the overview, turns, logs, clients, timers, settings, models.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { after, before, test } from "node:test";
import { cardPicture } from "./files.mjs";
import { Scene, barriers, log, say, visit } from "./scene.mjs";

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
  await page.getByText(/ warm · up to/).waitFor();
  await page.getByRole("cell", { name: "fake" }).waitFor();
  await page.getByRole("button", { name: "30 days" }).click();
  await page.getByRole("img", { name: /^Turns: [1-9]/ }).waitFor();
  await page.getByRole("button", { name: "Run checks" }).click();
  await page.getByText(/^(ok|warning)$/).first().waitFor({ state: "attached" });
});

test("code is counted by how it stopped", async () => {
  for (const code of ["now()", "now()", "boom", "print('x' * 4_000_000_000)"]) {
    await page.evaluate((code) => fetch("/api/runs", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ code }) }), code);
  }
  await nav("Chat");
  await nav("Overview");
  const stopped = page.getByRole("table", { name: "Code runs by outcome" });
  await stopped.getByRole("row", { name: /^finished 2$/ }).waitFor();
  await stopped.getByRole("row", { name: /^error 1$/ }).waitFor();
  await stopped.getByRole("row", { name: /^out of memory 1$/ }).waitFor();
});

test("a turn shows the prompt as it was sent, a timeline, and replays the same", async () => {
  await nav("Turns");
  await page.getByRole("row").nth(1).getByRole("link", { name: "Hello" }).click();
  await page.getByRole("img", { name: /^Timeline: Round 1/ }).waitFor();
  await page.getByText("Model request").click();
  await page.getByText(/# How you act/).waitFor();
  await page.getByRole("button", { name: "JSON" }).click();
  await page.getByText(/"role": "system"/).waitFor();
  await page.getByRole("button", { name: "Replay" }).click();
  await page.getByText("Replayed from the journal: identical.").waitFor();
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
      await visit(scene, page, where);
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

/** Somebody who comes without a key, and asks. */
function stranger(name) {
  const options = { transports: ["websocket"], extraHeaders: { Origin: "http://127.0.0.1:8000" }, auth: { clientId: name, clientType: "extension", key: "getKey" } };
  const socket = io(`${scene.origin}/sillytavern`, options);
  socket.emit("IDENTIFY_SILLYTAVERN", { clientId: name });
  return socket;
}

test("the log is read, sieved, and goes on", async () => {
  await Promise.all([page.waitForResponse(/events\?topics=logs/), nav("Logs")]);
  const lines = page.locator("ol summary").filter({ hasText: "a client asks to be let in" });
  const sockets = [stranger("Tavern-0")];
  try {
    await lines.first().waitFor();
    await page.getByRole("searchbox", { name: "Search" }).fill("no such words in any line");
    await page.getByText("No log lines match.").waitFor();
    await page.getByRole("searchbox", { name: "Search" }).fill("LET IN");
    await lines.first().waitFor();
    await page.getByRole("combobox", { name: "Level" }).selectOption("error");
    await page.getByText("No log lines match.").waitFor();
    await page.getByRole("combobox", { name: "Level" }).selectOption("debug");
    await lines.first().waitFor();
    sockets.push(stranger("Tavern-00"));
    await lines.nth(1).waitFor();
  } finally {
    sockets.forEach((socket) => socket.disconnect());
  }
});

test("a client asks, and is let in", async () => {
  await nav("Clients");
  const socket = stranger("Tavern-1");
  try {
    await page.getByText("Tavern-1 wants to connect").waitFor();
    await page.getByRole("region", { name: "Tavern-1 wants" }).getByRole("button", { name: "Approve" }).click();
    await page.getByRole("row", { name: /Tavern-1.*approved/ }).waitFor();
    await page.getByRole("row", { name: /Tavern-1/ }).getByRole("button", { name: "Revoke" }).click();
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
  await page.getByText("No timers.").waitFor();
});

test("a setting is changed, holds, and goes back", async () => {
  await nav("Settings");
  await page.getByRole("searchbox", { name: "Search" }).fill("approval ask");
  const box = page.getByRole("region", { name: "approval" }).getByRole("textbox").first();
  await box.fill("remember");
  await box.blur();
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Saved. Changes apply immediately.").waitFor();
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

const character = (name, description) => ({ spec: "chara_card_v2", spec_version: "2.0", data: { name, description, first_mes: "Aye.", personality: "", scenario: "", mes_example: "", system_prompt: "" } });
for (const [kind, file, card, write] of [
  ["JSON", { name: "captain.json", mimeType: "application/json" }, character("Captain", "A captain of few words."), (card) => Buffer.from(JSON.stringify(card))],
  ["PNG", { name: "stoker.png", mimeType: "image/png" }, character("Stoker", "A stoker who hums – 火夫."), cardPicture],
]) {
  test(`a character card becomes a persona, from ${kind}`, async () => {
    await nav("Personas");
    await page.getByLabel("Import").setInputFiles({ ...file, buffer: write(card) });
    await page.getByRole("heading", { name: card.data.name }).waitFor();
    await page.getByRole("region", { name: "Resulting prompt" }).getByText(card.data.description).first().waitFor();
  });
}

test("a picture without a card is refused with a reason", async () => {
  await nav("Personas");
  const picture = cardPicture({}).toString("latin1").replace("chara", "other");
  await page.getByLabel("Import").setInputFiles({ name: "photo.png", mimeType: "image/png", buffer: Buffer.from(picture, "latin1") });
  await page.getByRole("alert").waitFor();
});
