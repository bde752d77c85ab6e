// What a plugin says piece by piece, read by the real stream library while it is being said.
import assert from "node:assert/strict";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import ss from "@sap_oss/node-socketio-stream";
import { PATIENCE, Scene, ask, next } from "./scene.mjs";

const plugin = fileURLToPath(new URL("../../python/tests/astrbot/streamer", import.meta.url));
const scene = await Scene.open({ plugins: [plugin] });
const operatorKey = await scene.key("--scope", "operator");
const admin = await scene.connect("/clients", { clientType: "monitor", clientId: "boss", key: operatorKey });
const { key } = await ask(admin, "GENERATE_CLIENT_KEY", { targetClientId: "ada" });
const ada = await scene.connect("/llm", { clientType: "web-app", clientId: "ada", key });

/** The streams that are opened, each with what has been read of it. */
const streams = [];
ss(ada).on("SERVER_STREAM_DATA", (stream, about) => {
  const opened = { about, text: "", stream };
  streams.push(opened);
  stream.setEncoding("utf8");
  stream.on("data", (piece) => (opened.text += piece));
});

async function until(holds) {
  const late = Date.now() + PATIENCE;
  while (!(await holds())) {
    assert.ok(Date.now() < late, `it never came true: ${JSON.stringify(streams.map(({ text }) => text))}`);
    await new Promise((done) => setTimeout(done, 20));
  }
}

test("each message of a plugin is a stream of its own, and then whole", async () => {
  const messages = [];
  ada.on("message", (message) => messages.push(message));
  // Refused until the server has looked for its models.
  const request = { target: "server", requestId: "r", message: "/count" };
  await until(async () => (await ask(ada, "LLM_REQUEST", request)).status === "ok");
  await until(() => streams[0]?.text === "one ");
  assert.deepEqual(messages, [], "it is no message yet");
  const status = next(ada, "REQUEST_STATUS_UPDATE", ({ status }) => status === "completed");
  await scene.callgate("send", "/go", "--user", "bob");
  await status;
  assert.deepEqual(messages.map(({ data }) => data), ["one two", "three"]);
  await until(() => streams.length === 2 && streams[1].text === "three");
  assert.equal(streams[0].text, "one two");
  assert.deepEqual(streams.map(({ about }) => about.outputId), messages.map(({ outputId }) => outputId));
  assert.deepEqual(streams.map(({ about }) => about.requestId), ["r", "r"]);
});
