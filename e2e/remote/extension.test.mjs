// The shipped extension, step by step as it connects: long polling first, no key, no identity, a
// second transport for the same namespace, then a key for everything else.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Scene, ask, connected, next } from "./scene.mjs";

const scene = await Scene.open();
const clientId = "SillyTavern-8000";
const desc = "the extension, at port 8000";
const nobody = { clientType: "SillyTavern", clientId, desc };
const page = { extraHeaders: { origin: "http://127.0.0.1:8000" } };
let key;

test("S-38: before it has a key, it may read its two settings files and nothing else", async () => {
  await scene.write(`${scene.root}/settings/${clientId}-settings.json`, { Remember_me: true });
  await scene.write(`${scene.root}/settings/server_settings.json`, { networkSafe: false });
  await scene.write(`${scene.root}/settings/other.json`, { secret: 1 });
  const first = await scene.connect("/function_call", nobody, page);
  const remembered = await ask(first, "FUNCTION_CALL", {
    requestId: "checkRememberMe",
    target: "server",
    functionName: "readJsonFromFile",
    args: [`./settings/${clientId}-settings.json`],
  });
  assert.equal(remembered.success, true);
  assert.equal(remembered.result.result.Remember_me, true);
  const second = await scene.connect("/function_call", nobody, page);
  const settings = await ask(second, "FUNCTION_CALL", {
    requestId: "loadNetworkSafeSetting",
    target: "server",
    functionName: "readJsonFromFile",
    args: ["./settings/server_settings.json"],
  });
  assert.deepEqual(settings.result, { success: true, result: { networkSafe: false } });
  for (const [functionName, args] of [
    ["saveJsonToFile", ["./settings/server_settings.json", { networkSafe: true }]],
    ["readJsonFromFile", ["./settings/other.json"]],
    ["addStaticResources", [{ "/x": "settings" }]],
  ]) {
    const data = { requestId: functionName, target: "server", functionName, args };
    const refused = await ask(first, "FUNCTION_CALL", data);
    assert.equal(refused.success && refused.result.success, false, functionName);
  }
  first.disconnect();
  second.disconnect();
});

test("it asks for a key, which is worth something once the operator agrees", async () => {
  const asking = { ...nobody, key: "getKey" };
  const socket = await scene.connect("/sillytavern", asking, page);
  const identified = await ask(socket, "IDENTIFY_SILLYTAVERN", { clientId });
  assert.equal(identified.status, "ok", identified.message);
  assert.equal(typeof identified.key, "string");
  key = identified.key;
  const [asked] = await scene.callgate("client", "list");
  assert.deepEqual([asked.id, asked.state], [clientId, "pending"]);

  // It goes on as if it were let in, and is from the moment that it is.
  const llm = await scene.connect("/llm", { ...nobody, key }, page);
  const request = { target: "server", requestId: "early", message: "hello" };
  const early = await ask(llm, "LLM_REQUEST", request);
  assert.equal(early.status, "error");
  assert.match(early.message, /callgate client approve SillyTavern-8000/);
  const functions = await scene.connect("/function_call", { ...nobody, key }, page);
  const save = {
    requestId: "saveSettings",
    target: "server",
    functionName: "saveJsonToFile",
    args: ["./settings/early.json", { a: 1 }],
  };
  assert.equal((await ask(functions, "FUNCTION_CALL", save)).success, false);
  await scene.callgate("client", "approve", clientId);
  const later = await ask(functions, "FUNCTION_CALL", { ...save, requestId: "again" });
  assert.deepEqual(later.result, { success: true });
  for (const one of [socket, llm, functions]) one.disconnect();
});

test("from elsewhere nobody gets a key of that name, nor uses the one that was given", async () => {
  for (const options of [{}, { extraHeaders: { origin: "http://127.0.0.1:9000" } }]) {
    const thief = scene.connect("/sillytavern", { ...nobody, key: "getKey" }, options);
    await assert.rejects(thief, /belongs to somebody else/);
    await assert.rejects(scene.connect("/llm", { ...nobody, key }, options), /Invalid key/);
  }
  const own = await scene.connect("/sillytavern", { ...nobody, key: "getKey" }, page);
  const other = await ask(own, "IDENTIFY_SILLYTAVERN", { clientId: "SillyTavern-9000" });
  assert.equal(other.status, "error", "nor one of another name than it has");
  own.disconnect();
});

test("with its key it connects everywhere, several times at once, and asks what it asks", async () => {
  const auth = { ...nobody, key };
  const llm = await scene.connect("/llm", auth, { ...page, reconnection: true, reconnectionAttempts: 10 });
  const [auths, functions, rooms, clients] = await Promise.all(
    ["/auth", "/function_call", "/clients", "/clients"].map((name) => scene.connect(name, auth, page)),
  );
  const initial = await ask(clients, "UPDATE_CONNECTED_CLIENTS", {});
  assert.equal(initial.status, "ok");
  const self = initial.clients.find((client) => client.id === clientId);
  assert.equal(self.description, desc);
  const keys = await ask(clients, "GET_ALL_CLIENT_KEYS", {});
  assert.deepEqual(Object.keys(keys.keys), [clientId], "the keys of others are not its business");
  assert.equal(JSON.stringify(keys).includes(key), false);
  // Compat: the extension's rooms socket is one of /clients, and it reads a bare array.
  const names = await ask(rooms, "GET_ROOMS", {});
  assert.ok(Array.isArray(names), JSON.stringify(names));
  const others = await ask(auths, "GET_SILLYTAVERN_EXTENSION");
  assert.deepEqual(others.extensions, [clientId]);
  assert.deepEqual(others.allTheSTSocket, [clientId]);
  const own = await ask(auths, "GET_CLIENT_KEY", { clientId: "somebody-else" });
  assert.equal(own.status, "error");

  const path = "./settings/server_settings.json";
  const saved = await ask(functions, "FUNCTION_CALL", {
    requestId: "saveSettings",
    target: "server",
    functionName: "saveJsonToFile",
    args: [path, { networkSafe: true, port: 4000 }],
  });
  assert.deepEqual(saved, { requestId: "saveSettings", success: true, result: { success: true } });
  const loaded = await ask(functions, "FUNCTION_CALL", {
    requestId: "loadSettings",
    target: "server",
    functionName: "readJsonFromFile",
    args: [path],
  });
  assert.deepEqual(loaded.result.result, { networkSafe: true, port: 4000 }, "S-39");

  const reply = next(llm, "message");
  llm.emit("message", { type: 0, data: "Connection active?", source: "client", requestId: "test" });
  assert.equal((await reply)[0].data, "Yes,connection is fine.");

  // News of its own connections may still be on the way.
  const update = next(clients, "CONNECTED_CLIENTS_UPDATE", ({ clients: now }) =>
    now.some((client) => client.id === "visitor" && client.description === "another"),
  );
  const visitor = await scene.connect("/llm", {
    clientType: "web-app",
    clientId: "visitor",
    key: await scene.key(),
    desc: "another",
  });
  await update;
  visitor.disconnect();

  // What it does when it leaves.
  llm.emit(undefined, { clientId });
  for (const socket of [llm, auths, functions, rooms, clients]) socket.disconnect();
});

test("the key lives on after the server was killed, and only its hash is stored", async () => {
  await scene.restart();
  const socket = await scene.connect("/llm", { ...nobody, key }, page);
  const reply = next(socket, "message");
  socket.emit("message", { type: 0, data: "Connection active?" });
  await reply;
  await scene.callgate("client", "revoke", clientId);
  await assert.rejects(scene.connect("/llm", { ...nobody, key }, page), /Invalid key\./);
});

test("a page of somebody else's is refused", async () => {
  const evil = { extraHeaders: { origin: "https://evil.example" } };
  const socket = scene.socket("/function_call", nobody, evil);
  await assert.rejects(connected(socket));
  const preflight = await fetch(`${scene.url}/socket.io/?EIO=4&transport=polling`, {
    method: "OPTIONS",
    headers: { origin: "http://127.0.0.1:8000", "access-control-request-method": "POST" },
  });
  assert.equal(preflight.headers.get("access-control-allow-origin"), "http://127.0.0.1:8000");
});
