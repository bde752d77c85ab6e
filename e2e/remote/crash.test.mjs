// Packets that ended the original server's process. Each gets its answer or a clean refusal, and
// the server goes on.
import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import { Scene, ask, call, connected, next } from "./scene.mjs";

const scene = await Scene.open();
const key = await scene.key("--scope", "operator");
const auth = { clientType: "monitor", clientId: "prober", key };
const witness = await scene.connect("/function_call", { ...auth, clientId: "witness" });

afterEach(async () => {
  assert.equal(scene.alive, true, scene.log);
  const answer = await call(witness, "readJsonFromFile", ["nothing.json"]);
  assert.equal(answer.success, true, "another client is still served");
  assert.doesNotMatch(scene.log, /panicked/);
});

/** An acknowledgement that says no, in the shape of the namespace. */
function refused(answer) {
  const said = answer.success === false ? answer.error.message : answer.message;
  assert.ok(answer.success === false || answer.status === "error", JSON.stringify(answer));
  assert.match(said, /\S/);
}

test("function calls with no arguments, one object, null, or a name of the language", async () => {
  const socket = await scene.connect("/function_call", auth);
  const named = (functionName, rest) => ({ requestId: 1, target: "server", functionName, ...rest });
  assert.equal((await ask(socket, "FUNCTION_CALL", named("readJsonFromFile", {}))).result?.success ?? false, false);
  await ask(socket, "FUNCTION_CALL", named("addStaticResources", { args: {} }));
  await ask(socket, "FUNCTION_CALL", named("readJsonFromFile", { args: { path: 1 } }));
  refused(await ask(socket, "FUNCTION_CALL", null));
  refused(await ask(socket, "FUNCTION_CALL"));
  for (const name of ["__proto__", "constructor", "hasOwnProperty", "__defineGetter__"]) {
    refused(await ask(socket, "FUNCTION_CALL", named(name, { args: ["x"] })));
  }
});

test("the default namespace with an identity, and without", async () => {
  for (const identity of ["prober-1", undefined, null, 7, "x".repeat(100_000)]) {
    const socket = scene.socket("/", { ...auth, identity });
    await connected(socket).catch((error) => assert.match(error.message, /\S/));
    socket.disconnect();
  }
});

test("rooms: listing, creating, setting a mode, with anything", async () => {
  const socket = await scene.connect("/rooms", auth);
  assert.equal((await ask(socket, "GET_ROOMS")).status, "ok");
  assert.equal((await ask(socket, "GET_ROOMS", {})).status, "ok");
  for (const event of [
    "CREATE_ROOM",
    "DELETE_ROOM",
    "ADD_CLIENT_TO_ROOM",
    "REMOVE_CLIENT_FROM_ROOM",
    "SET_MEMBER_ROLE",
    "KICK_MEMBER",
    "SET_CONNECTION_POLICY",
    "ASSIGN_EXTENSION_TO_CLIENT",
    "SET_ROOM_MESSAGE_REQUEST_MODE",
    "GET_CLIENTS_IN_ROOM",
  ]) {
    for (const data of [null, undefined, {}, [], 7, "text", { roomName: null }, { roomName: "a\0b" }]) {
      const answer = await ask(socket, event, ...(data === undefined ? [] : [data]));
      refused(answer);
    }
  }
});

test("a client of /llm that leaves", async () => {
  const socket = await scene.connect("/llm", auth);
  socket.disconnect();
  const other = await scene.connect("/llm", { ...auth, identity: "prober-2" });
  other.io.engine.close();
});

test("pieces of a stream out of nowhere, and messages of no shape", async () => {
  const socket = await scene.connect("/llm", auth);
  for (const part of ["START", "DATA_FIRST", "DATA_MIDDLE", "DATA_LAST", "DATA_RETRY", "DATA_FAILED", "END"]) {
    for (const data of [null, undefined, 7, {}, { type: 2, streamId: 1, outputId: {}, chunkIndex: -1, data: 7 }]) {
      socket.emit(`CLIENT_STREAM_${part}`, data);
    }
  }
  socket.emit("message", null);
  socket.emit("message");
  socket.emit("message", { type: 0 });
  socket.emit("ERROR", null);
  socket.emit("$stream-read", "none", "much");
  for (const event of ["LLM_REQUEST", "EDIT_MESSAGE", "DELETE_MESSAGE", "CLEAR_MESSAGES"]) {
    for (const data of [null, undefined, {}, [], 7, { target: {} }, { roomName: "__proto__" }]) {
      refused(await ask(socket, event, ...(data === undefined ? [] : [data])));
    }
  }
  for (const event of ["START_TYPING", "STOP_TYPING", "START_PROCESSING", "STOP_PROCESSING"]) {
    for (const data of [null, undefined, {}, { targetRoom: 7 }]) socket.emit(event, data);
  }
  const reply = next(socket, "message");
  socket.emit("message", { type: 0, data: "Connection active?", requestId: "still" });
  const [{ data, source, requestId }] = await reply;
  assert.deepEqual([data, source, requestId], ["Yes,connection is fine.", "server", "still"]);
});

test("logs by a name that is none", async () => {
  const socket = await scene.connect("/debug", auth);
  for (const filename of ["nope.log", "../../etc/passwd", null, 7, "combined.log\0"]) {
    refused(await ask(socket, "READ_LOG", { filename, level: "all", page: 1, pageSize: 10 }));
  }
  for (const data of [null, undefined, 7, {}]) {
    refused(await ask(socket, "READ_LOG", ...(data === undefined ? [] : [data])));
  }
});

test("an event without a name is ignored, and the connection stays", async () => {
  const socket = await scene.connect("/llm", auth);
  socket.emit(undefined, { clientId: "prober" });
  socket.emit(null, {});
  const reply = next(socket, "message");
  socket.emit("message", { type: 0, data: "Connection active?" });
  assert.equal((await reply)[0].data, "Yes,connection is fine.");
});

test("keys and clients, asked for with anything", async () => {
  const clients = await scene.connect("/clients", auth);
  const auths = await scene.connect("/auth", auth);
  for (const socket of [clients, auths]) {
    for (const data of [null, undefined, 7, {}, { clientId: {} }, { clientId: "__proto__" }]) {
      refused(await ask(socket, "GET_CLIENT_KEY", ...(data === undefined ? [] : [data])));
    }
  }
  for (const event of ["GENERATE_CLIENT_KEY", "REMOVE_CLIENT_KEY"]) {
    for (const data of [null, undefined, 7, {}, { targetClientId: {} }]) {
      refused(await ask(clients, event, ...(data === undefined ? [] : [data])));
    }
  }
  const tavern = await scene.connect("/sillytavern", auth);
  for (const data of [null, undefined, 7, {}, { clientId: {} }]) {
    refused(await ask(tavern, "IDENTIFY_SILLYTAVERN", ...(data === undefined ? [] : [data])));
  }
});

test("packets that are no Socket.IO end their own connection at most", async () => {
  const handshake = await fetch(`${scene.url}/socket.io/?EIO=4&transport=polling`);
  const { sid } = JSON.parse((await handshake.text()).slice(1));
  const url = `${scene.url}/socket.io/?EIO=4&transport=polling&sid=${sid}`;
  for (const body of ["", "\0", "4", "42", "42[", '42["', "451-[", "4999", "b!!!", "4\ud83d", "9"]) {
    await fetch(url, { method: "POST", body }).then((answer) => answer.text(), () => {});
  }
  const old = await fetch(`${scene.url}/socket.io/?EIO=3&transport=polling`);
  assert.equal(old.status, 400);
});
