// The official SDK as a client of ours.
import assert from "node:assert/strict";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { PromptListChangedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";
import { BINARY, HERE, Scene, environment } from "./scene.mjs";

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
  for (const part of [everyday, cancelling, changes, keys, pipe]) {
    await part();
    console.log(`ok: ${part.name}`);
  }
} finally {
  await Promise.allSettled(clients.map((client) => client.close()));
  await scene.close();
}
