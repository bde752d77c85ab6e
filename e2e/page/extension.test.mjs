// The extension of SillyTavern, in a page of another origin, meets a server that has never been used: it
// asks, the operator says yes, the page is loaded again, and it works. `tavern/` does what the extension
// does. Whoever has a SillyTavern with the extension itself names its address in TAVERN
// (http://localhost:8000), and the same is tried with that.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { Scene } from "./scene.mjs";

let scene;
before(async () => {
  scene = await Scene.open({ model: false, knownAs: "localhost:4000" });
});
after(() => scene?.close());

const callgate = (...words) => JSON.parse(execFileSync(scene.bin, [...words, "--json", "--data", scene.data], { encoding: "utf8" }));

/** Asks until it is so; beyond it a test has hung. */
async function until(what, holds) {
  for (const end = Date.now() + 60_000; Date.now() < end; await pause(50)) if (await holds()) return;
  assert.fail(`never came: ${what}`);
}

/** A page of the tavern's, and what it complains about. */
async function visitor(tavern) {
  const page = await (await scene.browser.newContext()).newPage();
  const complaints = [];
  page.on("pageerror", (error) => complaints.push(error.message));
  await page.goto(tavern);
  return { page, complaints };
}

/** It is in all its namespaces. */
const entered = (page) => until("its connection", () => page.evaluate(() => Boolean(globalThis.llmSocket?.connected)));
const press = (page) => page.locator("#ST-NewAge-socketio-saveSettingsBtn").dispatchEvent("click");
const settings = () => join(scene.data, "remote/settings/server_settings.json");
const saved = () => existsSync(settings());

for (const wanted of process.env.TAVERN ? [process.env.TAVERN] : ["http://localhost:0", "http://127.0.0.1:0"]) {
  test(`from ${wanted}: it asks, is approved, is loaded again and works`, async () => {
    const tavern = wanted.endsWith(":0") ? await pages(wanted) : wanted;
    const id = `SillyTavern-${new URL(tavern).port}`;
    const about = () => callgate("client", "list").find((client) => client.id === id);

    const { page, complaints } = await visitor(tavern);
    await until("its request", () => about()?.state === "pending");
    assert.equal(about().origin, new URL(tavern).origin);
    await entered(page);
    assert.equal(callgate("client", "approve", id).state, "approved");
    assert.equal(saved(), false, "nothing was kept for somebody who had only asked");

    await page.reload();
    await entered(page);
    const reply = page.evaluate(() => new Promise((heard) => {
      globalThis.llmSocket.once("message", (message) => heard(message.data));
      globalThis.llmSocket.emit("message", { type: 0, data: "Connection active?" });
    }));
    assert.equal(await reply, "Yes,connection is fine.");
    await until("its settings", async () => (await press(page), saved()));
    assert.equal(JSON.parse(readFileSync(settings(), "utf8")).networkSafe, true);

    // Another client calls a function of its.
    const { key } = callgate("key", "new");
    const other = await scene.blank();
    await other.goto(scene.origin);
    const called = await other.evaluate(async ([key, id]) => {
      const { connect } = await import("/callgate.js");
      return connect({ key, clientId: `caller-of-${id}` }).callAt(id, "myFunction1", 1, 2);
    }, [key, id]);
    assert.equal(typeof called, "object", JSON.stringify(called));
    assert.equal(about().state, "approved", "it was asked for once");
    if (!process.env.TAVERN) assert.deepEqual(complaints, []);
    rmSync(settings());
    callgate("client", "revoke", id);
    await until("its end", () => page.evaluate(() => !globalThis.llmSocket.connected));
    await page.close();
  });
}

/** Serves `tavern/` at a free port under that name. */
async function pages(address) {
  const { protocol, hostname } = new URL(address);
  const server = createServer((request, response) => {
    const name = request.url === "/" ? "index.html" : "extension.js";
    const type = name.endsWith(".js") ? "text/javascript" : "text/html";
    response.writeHead(200, { "content-type": type }).end(readFileSync(new URL(`tavern/${name}`, import.meta.url)));
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  after(() => server.close());
  return `${protocol}//${hostname}:${server.address().port}/`;
}
