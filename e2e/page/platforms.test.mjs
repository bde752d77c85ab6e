// A chat platform from the form to the first answer, with a program that speaks OneBot on the other side.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { after, before, test } from "node:test";
import { Scene, barriers } from "./scene.mjs";

const WebSocket = createRequire(new URL("../package.json", import.meta.url))("ws");

let scene, page, port, bot;
before(async () => {
  scene = await Scene.open();
  page = await scene.page();
  port = await new Promise((done) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => done(port));
    });
  });
});
after(async () => {
  bot?.close();
  await scene?.close();
  assert.deepEqual(scene?.outside, [], "nobody else was asked for anything");
  assert.deepEqual(scene?.complaints, [], "the page complained about nothing");
});

/** Connects as NapCat would, and answers what it is asked. */
async function connect(token) {
  const sent = [];
  bot = new WebSocket(`ws://127.0.0.1:${port}/onebot/v11/ws`, { headers: { "X-Self-ID": "10086", "X-Client-Role": "Universal", Authorization: `Bearer ${token}` } });
  bot.on("message", (text) => {
    const { action, params, echo } = JSON.parse(text);
    const known = { get_login_info: { user_id: 10086, nickname: "Door" }, get_version_info: { app_name: "NapCat", app_version: "4" } };
    if (action.startsWith("send_")) sent.push(params);
    bot.send(JSON.stringify({ status: "ok", retcode: 0, data: known[action] ?? { message_id: sent.length }, echo }));
  });
  await new Promise((done, failed) => bot.once("open", done).once("error", failed));
  return sent;
}

const card = () => page.getByRole("region", { name: "qq" });

test("a platform is added by its form, without its token being shown again", async () => {
  await page.getByRole("navigation", { name: "Callgate" }).getByRole("link", { name: "Platforms" }).click();
  await page.getByText("No chat is connected yet").waitFor();
  await page.getByLabel("Short name").fill("qq");
  await page.getByLabel("Address we listen on").fill("6199");
  await page.getByLabel("Access token").fill("open sesame");
  await page.getByRole("button", { name: "Connect", exact: true }).click();
  await page.getByText(/'6199' is no address/).waitFor();
  await page.getByLabel("Address we listen on").fill(`127.0.0.1:${port}`);
  await page.getByRole("button", { name: "Connect", exact: true }).click();
  await card().getByText("waiting for a bot").waitFor();
  assert.ok(!(await page.content()).includes("open sesame"));
  assert.deepEqual(await barriers(page), []);
});

test("each kind of platform asks for what it needs, and says what is wrong with it", async () => {
  const kind = page.getByRole("combobox", { name: "Platform" });
  const fields = async () => (await page.locator("form label:has(input)").allTextContents()).map((text) => text.trim());
  await kind.selectOption({ label: "Telegram" });
  await page.getByText("@BotFather").waitFor();
  assert.deepEqual(await fields(), ["Short name, used in session names", "Access token"]);
  await page.getByLabel("Short name").fill("tg");
  await page.getByLabel("Access token").fill("no token");
  await page.getByRole("button", { name: "Connect", exact: true }).click();
  await page.getByText(/a token looks like/).waitFor();
  for (const [label, hint] of [["Matrix", "Encrypted rooms"], ["Satori", "Koishi"]]) {
    await kind.selectOption({ label });
    await page.getByText(hint).waitFor();
    assert.deepEqual(await fields(), ["Short name, used in session names", "Address we connect to", "Access token"]);
  }
  await page.getByLabel("Short name").fill("rooms");
  await page.getByLabel("Access token").fill("open sesame");
  await page.getByRole("button", { name: "Connect", exact: true }).click();
  const rooms = page.getByRole("region", { name: "rooms" });
  await rooms.getByText("Satori").waitFor();
  assert.equal(await page.getByLabel("Access token").inputValue(), "", "what was given is not kept in the form");
  assert.deepEqual(await barriers(page), []);
  await rooms.getByRole("button", { name: "Remove rooms" }).click();
  await rooms.waitFor({ state: "detached" });
  await kind.selectOption({ label: "OneBot v11 (QQ)" });
});

test("a program with a wrong token is refused and named, one with the right one is answered", async () => {
  await assert.rejects(connect("sesame"), /403/);
  await card().getByText(/the access token is wrong/).waitFor();
  const sent = await connect("open sesame");
  await card().getByText("connected", { exact: true }).waitFor();
  await card().getByText("Door").waitFor();
  const message = [{ type: "at", data: { qq: "10086" } }, { type: "text", data: { text: " Hello" } }];
  const event = { post_type: "message", message_type: "group", group_id: 7, group_name: "Tea room", user_id: 1, self_id: 10086, message_id: 1, time: Math.floor(Date.now() / 1000), sender: { user_id: 1, nickname: "Ann" }, message };
  bot.send(JSON.stringify(event));
  await card().getByText("1 in, 1 out").waitFor();
  assert.deepEqual(sent, [{ group_id: 7, message: [{ type: "text", data: { text: "A plain answer." } }] }]);
  await card().getByRole("button", { name: "Test" }).click();
  await card().getByText("NapCat 4").waitFor();
});

test("a platform that is left hangs up, and its chats stay", async () => {
  const hungUp = new Promise((done) => bot.once("close", done));
  await card().getByRole("button", { name: "Remove qq" }).click();
  await page.getByText("No chat is connected yet").waitFor();
  await hungUp;
  const sessions = await page.evaluate(() => fetch("/api/sessions").then((answer) => answer.text()));
  assert.ok(sessions.includes("qq:GroupMessage:7"), sessions);
  await page.getByRole("navigation", { name: "Callgate" }).getByRole("link", { name: "Chat" }).click();
  await page.getByLabel("Session").selectOption({ label: "Tea room (qq)" });
  await page.getByText("A plain answer.").waitFor();
});
