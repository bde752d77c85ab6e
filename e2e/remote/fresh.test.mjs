// The shipped extension meets a server that has never been used. What it sends, and what it looks at in
// the answers, is done here in its order: a settings file that is not there, a key, approval, work. It
// looks into the document that it asked for before it looks whether there is one.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Scene, ask, connected, next } from "./scene.mjs";

for (const port of [8000, 8123]) {
  const clientId = `SillyTavern-${port}`;
  const nobody = { clientType: "SillyTavern", clientId, desc: `at port ${port}` };
  const page = { extraHeaders: { origin: `http://localhost:${port}` } };

  test(`from an empty data directory, at port ${port}: it asks, is approved, and works`, async () => {
    const scene = await Scene.open();
    const key = await enter(scene);
    const [asked] = await scene.callgate("client", "list");
    assert.deepEqual([asked.id, asked.state, asked.origin], [clientId, "pending", page.extraHeaders.origin]);

    // It goes on at once, with reconnection for this one alone.
    const auth = { ...nobody, key };
    const llm = await scene.connect("/llm", auth, { ...page, reconnection: true, reconnectionAttempts: 10 });
    const names = ["/auth", "/function_call", "/clients", "/clients"];
    const others = await Promise.all(names.map((name) => scene.connect(name, auth, page)));
    const [, functions, , clients] = others;
    assert.equal((await ask(clients, "GET_ALL_CLIENT_KEYS", {})).status, "error");
    await scene.callgate("client", "approve", clientId);
    assert.equal((await ask(clients, "GET_ALL_CLIENT_KEYS", {})).status, "ok");
    assert.ok((await ask(clients, "UPDATE_CONNECTED_CLIENTS", {})).clients.some((one) => one.id === clientId));
    const saved = await ask(functions, "FUNCTION_CALL", {
      requestId: "saveSettings",
      target: "server",
      functionName: "saveJsonToFile",
      args: ["./settings/server_settings.json", { serverPort: "4000", networkSafe: true }],
    });
    assert.deepEqual(saved.result, { success: true });

    // Another client's request reaches it, and so does a call of one of its functions.
    functions.on("FUNCTION_CALL", (data, reply) => {
      if (data.target === clientId) reply({ requestId: data.requestId, success: true, result: data.args[0] + 1 });
    });
    const other = await scene.connect("/llm", { clientType: "web-app", clientId: "app", key: await scene.key() });
    const reached = next(llm, "LLM_REQUEST");
    const taken = await ask(other, "LLM_REQUEST", { target: clientId, requestId: "r", message: "hello" });
    assert.equal(taken.status, "ok", taken.message);
    assert.equal((await reached)[0].message, "hello");

    // A second page of the same tavern, while the first is there, is not let in by its approval.
    const second = await scene.connect("/sillytavern", { ...nobody, key: "getKey" }, page);
    const refused = await ask(second, "IDENTIFY_SILLYTAVERN", { clientId });
    assert.deepEqual([refused.status, "key" in refused], ["error", false]);
    assert.match(refused.message, /^SillyTavern extension already connected\./);
    second.disconnect();

    // The page is loaded again: it has kept nothing, asks again, and needs no second approval.
    for (const socket of [llm, ...others]) socket.io.engine.close();
    const another = await enter(scene);
    assert.notEqual(another, key);
    await assert.rejects(scene.connect("/llm", auth, page), /Invalid key/);
    const again = await scene.connect("/llm", { ...nobody, key: another }, page);
    const reply = next(again, "message");
    again.emit("message", { type: 0, data: "Connection active?" });
    assert.equal((await reply)[0].data, "Yes,connection is fine.");
    await scene.close();
  });

  /** What it does before it has a key: two settings files over two connections, then it asks for one. */
  async function enter(scene) {
    const read = async (requestId, file) => {
      const socket = await scene.connect("/function_call", nobody, page);
      const args = [`./settings/${file}.json`];
      const data = { requestId, target: "server", functionName: "readJsonFromFile", args };
      const response = await ask(socket, "FUNCTION_CALL", data);
      socket.disconnect();
      assert.equal(response.success, true, JSON.stringify(response));
      return response.result;
    };
    // Throws in the extension where there is no `result`.
    assert.equal((await read("checkRememberMe", `${clientId}-settings`)).result.Remember_me, undefined);
    await read("loadNetworkSafeSetting", "server_settings");
    const socket = await scene.connect("/sillytavern", { ...nobody, key: "getKey" }, { ...page, reconnection: true });
    const identified = await ask(socket, "IDENTIFY_SILLYTAVERN", { clientId });
    assert.ok(identified.status === "ok" && identified.key, identified.message);
    socket.disconnect();
    return identified.key;
  }
}

test("a file that cannot be read is still told as a failure", async () => {
  const scene = await Scene.open();
  const socket = scene.socket("/function_call", { clientType: "web-app", clientId: "app", key: await scene.key() });
  await connected(socket);
  const data = { requestId: 1, target: "server", functionName: "readJsonFromFile", args: ["none.json"] };
  const { result } = await ask(socket, "FUNCTION_CALL", data);
  assert.deepEqual([result.success, result.error.code, result.result], [false, "ENOENT", {}]);
});
