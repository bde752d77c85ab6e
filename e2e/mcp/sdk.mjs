// The official SDK as a client of ours.
import assert from "node:assert/strict";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { PromptListChangedNotificationSchema, ResourceUpdatedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";
import { BINARY, HERE, Scene, environment } from "./scene.mjs";

// Beyond it something has hung.
setTimeout(() => process.exit(1), 180_000).unref();

const scene = await Scene.open(() => '[remote]\nmethods = ["remember"]\n');
const clients = [];

async function over(transport) {
  const client = new Client({ name: "sdk", version: "1" });
  clients.push(client);
  await client.connect(transport);
  return client;
}

function http(key) {
  const headers = { Authorization: `Bearer ${key}` };
  return new StreamableHTTPClientTransport(new URL(`${scene.url}/mcp`), { requestInit: { headers } });
}

async function key(...options) {
  return (await scene.callgate("key", "new", ...options)).key;
}

const names = async (client) => (await client.listTools()).tools.map((tool) => tool.name);

async function everyday() {
  const client = await over(http(scene.key));
  const { tools } = await client.listTools();
  const remember = tools.find((tool) => tool.name === "remember");
  assert.deepEqual(remember.inputSchema.required, ["name", "text"]);
  assert.equal(remember.annotations.readOnlyHint, false);
  const simple = tools.find((tool) => tool.name === "test_simple_text");
  assert.equal(simple.annotations.readOnlyHint, true);
  const structured = await client.callTool({ name: "test_structured" });
  assert.deepEqual(structured.structuredContent, { answer: 42 });
  await assert.rejects(client.callTool({ name: "fetch_page", arguments: {} }), /no tool 'fetch_page'/);
  const wrong = await client.callTool({ name: "remember", arguments: { name: 1 } });
  assert.equal(wrong.isError, true);
  const { prompts } = await client.listPrompts();
  assert.ok(prompts.some((prompt) => prompt.name === "default"));
}

async function progress() {
  const client = await over(http(scene.key));
  /** What the method itself says, and its end: that it goes on is said by the clock. */
  const heard = async (name) => {
    const all = [];
    await client.callTool({ name }, undefined, { onprogress: (told) => all.push(told) });
    const [begun, ...told] = all;
    assert.equal(begun.message, "begun");
    return told.filter(({ message }) => !message?.startsWith("running"));
  };
  const told = await heard("test_tool_with_progress");
  assert.deepEqual(told.map((it) => it.message), ["0 of 100", "50 of 100", "100 of 100"]);
  assert.deepEqual(told.slice(1).map(({ progress, total }) => [progress, total]), [[50, 100], [100, 100]]);
  const plain = await heard("test_plain_progress");
  assert.deepEqual(plain.map(({ progress, total }) => [progress, total]), [[1, 2], [2, 2]]);
}

async function cancelling() {
  const client = await over(http(scene.key));
  const stop = new AbortController();
  // Not before it has begun: what was never begun need not be told to stop.
  const onprogress = ({ progress }) => progress > 0 && stop.abort("enough");
  const options = { signal: stop.signal, onprogress };
  await assert.rejects(client.callTool({ name: "test_endless" }, undefined, options));
  for (;;) {
    const { content } = await client.callTool({ name: "test_was_cancelled" });
    if (content[0].text === "true") break;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

async function changes() {
  const client = await over(http(scene.key));
  const told = new Promise((resolve) =>
    client.setNotificationHandler(PromptListChangedNotificationSchema, resolve),
  );
  // Its own stream for such news is open once it has listed something.
  await client.listPrompts();
  await scene.callgate("persona", "set", "newcomer", "--prompt", "You are new, {{user}}.");
  await told;
  const prompt = await client.getPrompt({ name: "newcomer", arguments: { user: "Ann" } });
  assert.equal(prompt.messages[0].content.text, "You are new, Ann.");
}

/** A file of the operator's own session, written by code as any, at once: it changes one time. */
const put = (name, text) => scene.run(`
import pathlib
new = pathlib.Path("/app/shared/.new")
new.write_text("${text}")
new.rename("/app/shared/${name}")
`);

async function files() {
  const write = (text) => put("watched.txt", text);
  await write("one");
  const client = await over(http(scene.key));
  const { resources } = await client.listResources();
  const { uri } = resources.find((it) => it.name === "watched.txt");
  const heard = [];
  client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => heard.push(params.uri));
  const until = async (count) => {
    while (heard.length < count) await new Promise((resolve) => setTimeout(resolve, 20));
  };
  await client.subscribeResource({ uri });
  const missing = uri.replace("watched.txt", "later.txt");
  await client.subscribeResource({ uri: missing });
  await write("two, which is longer");
  await until(1);
  await put("later.txt", "now");
  await until(2);
  assert.deepEqual(heard, [uri, missing]);
  await client.unsubscribeResource({ uri: missing });
  await put("later.txt", "not told");
  await write("three");
  await until(3);
  assert.deepEqual(heard, [uri, missing, uri]);
  const { contents } = await client.readResource({ uri });
  assert.equal(contents[0].text, "three");
  const stranger = await over(http(await key()));
  await assert.rejects(stranger.subscribeResource({ uri }), /no such resource/);
  // A key that is revoked is told nothing more, though its stream is open.
  const other = await scene.callgate("key", "new", "--scope", "operator");
  const leaving = await over(http(other.key));
  const overheard = [];
  leaving.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => overheard.push(params.uri));
  await leaving.subscribeResource({ uri });
  await write("four words for it");
  await until(4);
  while (overheard.length < 1) await new Promise((resolve) => setTimeout(resolve, 20));
  await scene.callgate("key", "revoke", other.id);
  for (const count of [5, 6]) {
    await write("more ".repeat(count));
    await until(count);
  }
  assert.deepEqual(overheard, [uri]);
}

/** The same of a stream without a session. */
async function stream() {
  await put("streamed.txt", "one");
  const [uri] = /callgate:[^"]*streamed\.txt/.exec(await (await scene.ask("resources/list")).text());
  const stop = new AbortController();
  const wish = { notifications: { resourceSubscriptions: [uri] } };
  const answer = await scene.ask("subscriptions/listen", wish, stop.signal);
  let heard = "";
  for await (const piece of answer.body.pipeThrough(new TextDecoderStream())) {
    const begins = heard === "";
    heard += piece;
    if (heard.includes("notifications/resources/updated")) break;
    // Once it is heard at all, it listens.
    if (begins) await put("streamed.txt", "two and more");
  }
  stop.abort();
  assert.ok(heard.includes(uri), heard);
}

async function keys() {
  await assert.rejects(over(http("callgate_wrong")), /401|Unauthorized/i);
  const narrow = await over(http(await key("--scope", "method:remember")));
  assert.deepEqual(await names(narrow), ["remember"]);
  await assert.rejects(narrow.callTool({ name: "test_simple_text" }), /no tool/);
  assert.deepEqual((await narrow.listPrompts()).prompts, []);
  assert.deepEqual((await narrow.listResources()).resources, []);
  // Another's session does not exist.
  const { sessionId } = narrow.transport;
  const answer = await fetch(`${scene.url}/mcp`, {
    method: "DELETE",
    headers: { authorization: `Bearer ${await key()}`, "mcp-session-id": sessionId },
  });
  assert.equal(answer.status, 404);
  assert.deepEqual(await names(narrow), ["remember"]);
}

async function pipe() {
  const words = ["mcp", "--data", scene.data];
  const client = await over(
    new StdioClientTransport({ command: BINARY, args: words, env: environment(), stderr: "inherit" }),
  );
  assert.ok((await names(client)).includes("test_simple_text"), "the server's own plugins");
  const done = await client.callTool({ name: "remember", arguments: { name: "a", text: "b" } });
  assert.equal(done.content[0].text, "Remembered 'a': b");
}

try {
  await scene.serve(join(HERE, "fixtures"));
  for (const part of [everyday, progress, cancelling, changes, files, stream, keys, pipe]) {
    await part();
    console.log(`ok: ${part.name}`);
  }
} finally {
  await Promise.allSettled(clients.map((client) => client.close()));
  await scene.close();
}
