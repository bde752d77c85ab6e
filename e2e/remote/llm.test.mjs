// Requests for an answer: to a SillyTavern client, by streams and whole, and to our own agent.
import assert from "node:assert/strict";
import { test } from "node:test";
import ss from "@sap_oss/node-socketio-stream";
import { Scene, ask, next } from "./scene.mjs";

const answers = [{ content: "A good day to you." }, { content: "And to the room." }];
const scene = await Scene.open({
  files: {
    "callgate.toml": '[models]\ndefault = "script:data/answers.jsonl"\n',
    "answers.jsonl": answers.map((answer) => JSON.stringify(answer)).join("\n"),
  },
});
const operatorKey = await scene.key("--scope", "operator");
const admin = await scene.connect("/clients", { clientType: "monitor", clientId: "boss", key: operatorKey });
const keys = {};
for (const name of ["tavern", "ada", "bob", "eve"]) {
  keys[name] = (await ask(admin, "GENERATE_CLIENT_KEY", { targetClientId: name })).key;
}
const join = (namespace, clientId, clientType = "web-app") =>
  scene.connect(namespace, { clientType, clientId, key: keys[clientId] });
const tavern = await join("/llm", "tavern", "SillyTavern");
const ada = await join("/llm", "ada");

let requests = 0;

/** Sends a request; resolves with what the SillyTavern client is sent. */
async function request(from, fields) {
  const requestId = `request-${++requests}`;
  const arrives = next(tavern, "LLM_REQUEST");
  const data = { target: "tavern", requestId, message: "hello", requestType: "newMessage", ...fields };
  const taken = await ask(from, "LLM_REQUEST", data);
  assert.deepEqual(taken, { status: "ok", message: "Request received." });
  return (await arrives)[0];
}

/** As the shipped extension streams one token: a stream of its own, in five chunks. */
function token(outputId, requestId, text, streamId = crypto.randomUUID()) {
  const about = { clientId: "ext", streamId, outputId, source: "ext", requestId, target: "server" };
  tavern.emit("CLIENT_STREAM_START", { type: 1, numStreams: 5, ...about });
  const size = Math.ceil(text.length / 5);
  for (let index = 0; index < 5; index++) {
    const [type, event] = index === 4 ? [6, "LAST"] : index === 0 ? [4, "FIRST"] : [5, "MIDDLE"];
    const data = text.substring(index * size, Math.min((index + 1) * size, text.length));
    tavern.emit(`CLIENT_STREAM_DATA_${event}`, { type, chunkIndex: index, data, ...about });
  }
  tavern.emit("CLIENT_STREAM_END", { type: 3, ...about });
}

test("a request reaches the SillyTavern client with the fields of both generations", async () => {
  const data = await request(ada, { message: "how are you", extra: 1 });
  const { requestId, message, requestType, target, mode, targetRoom, requestingIdentity } = data;
  assert.deepEqual(
    { requestId, message, requestType, target, mode, targetRoom, requestingIdentity },
    {
      requestId: "request-1",
      message: "how are you",
      requestType: "newMessage",
      target: "tavern",
      mode: "Immediate",
      targetRoom: "ada",
      requestingIdentity: "ada",
    },
  );
  assert.equal(data.extra, 1);
  assert.equal(data.currentRequest.message, "how are you");
  assert.equal(data.context.at(-1).data, "how are you");
});

test("a whole answer goes to whoever asked, and to nobody else", async () => {
  const bob = await join("/llm", "bob");
  bob.on("message", () => assert.fail("it was not for bob"));
  const { requestId } = await request(ada);
  const status = next(ada, "REQUEST_STATUS_UPDATE");
  const answer = next(ada, "message");
  tavern.emit("message", { type: 0, data: "fine", source: "ext", requestId, outputId: "o-1" });
  const [{ type, data, source, outputId }] = await answer;
  assert.deepEqual([type, data, source, outputId], [0, "fine", "server", "o-1"]);
  const [update] = await status;
  assert.equal(update.status, "completed");
  assert.equal(update.requestId, requestId);
  bob.disconnect();
});

test("2,000 tokens arrive as one text, in order, by the real stream library", async () => {
  const { requestId } = await request(ada);
  const tokens = Array.from({ length: 2_000 }, (_, number) => `token ${number} 词;`);
  const read = new Promise((resolve, reject) => {
    ss(ada).on("SERVER_STREAM_DATA", (stream, about) => {
      let text = "";
      stream.setEncoding("utf8");
      stream.on("data", (piece) => (text += piece));
      stream.on("error", reject);
      stream.on("end", () => resolve({ text, about }));
    });
  });
  const whole = next(ada, "message");
  for (const text of tokens) token("o-2", requestId, text);
  const { text, about } = await read;
  assert.equal(text, tokens.join(""));
  assert.deepEqual([about.outputId, about.requestId, about.source], ["o-2", requestId, "server"]);
  assert.equal((await whole)[0].data, text, "and whole, for clients that read no streams");
});

test("chunks that come out of turn or twice are put right", async () => {
  const { requestId } = await request(ada);
  const about = { streamId: "s", outputId: "o-3", requestId };
  const whole = next(ada, "message");
  tavern.emit("CLIENT_STREAM_START", { type: 1, ...about });
  for (const [index, data] of [[1, "b"], [0, "a"], [0, "a"], [2, "c"]]) {
    tavern.emit("CLIENT_STREAM_DATA_MIDDLE", { type: 5, chunkIndex: index, data, ...about });
  }
  tavern.emit("CLIENT_STREAM_END", { type: 3, ...about });
  assert.equal((await whole)[0].data, "abc");
});

test("nobody answers what was put to another, or reads what another asked", async () => {
  const eve = await join("/llm", "eve", "SillyTavern");
  const { requestId } = await request(ada);
  const answer = next(ada, "message");
  eve.emit("message", { type: 0, data: "forged", requestId, outputId: "x" });
  eve.emit("ERROR", { message: "forged", requestId });
  tavern.emit("message", { type: 0, data: "true", requestId, outputId: "y" });
  assert.equal((await answer)[0].data, "true");
  eve.disconnect();
});

test("a failure, an unknown target and a target that leaves are told", async () => {
  const { requestId } = await request(ada);
  const failed = next(ada, "ERROR");
  tavern.emit("ERROR", { type: "ERROR", message: "no", error: "out of tokens", requestId });
  assert.deepEqual(await failed, [{ type: "ERROR", message: "out of tokens", requestId }]);
  const unknown = await ask(ada, "LLM_REQUEST", { target: "nobody", requestId: "n", message: "x" });
  assert.deepEqual(unknown, { status: "error", message: "Target client not found: nobody" });
  const other = await join("/llm", "eve", "SillyTavern");
  await ask(ada, "LLM_REQUEST", { target: "eve", requestId: "gone", message: "x" });
  const left = next(ada, "ERROR");
  other.disconnect();
  assert.equal((await left)[0].requestId, "gone");
});

test("an answer that comes while the asker is away waits for it", async () => {
  const bob = await join("/llm", "bob");
  const { requestId } = await request(bob);
  bob.disconnect();
  const here = async () => (await ask(admin, "GET_CLIENT_LIST")).clients.map((one) => one.clientId);
  while ((await here()).includes("bob"));
  tavern.emit("message", { type: 0, data: "late", requestId, outputId: "late" });
  // The tavern's own echo says that the server has read on.
  const echo = next(tavern, "message");
  tavern.emit("message", { type: 0, data: "Connection active?" });
  await echo;
  const back = scene.socket("/llm", { clientType: "web-app", clientId: "bob", key: keys.bob });
  assert.equal((await next(back, "message"))[0].data, "late");
  back.disconnect();
});

test("the numeric event of old clients", async () => {
  const arrives = next(tavern, "LLM_REQUEST");
  const taken = await ask(ada, 9, { target: "tavern", requestId: "old", message: "from afar" });
  assert.equal(taken.status, "ok");
  assert.equal((await arrives)[0].message, "from afar");
});

test("our own agent answers where no other is asked", async () => {
  const answer = next(ada, "message");
  const status = next(ada, "REQUEST_STATUS_UPDATE");
  const taken = await ask(ada, "LLM_REQUEST", { target: "server", requestId: "own", message: "hi" });
  assert.deepEqual(taken, { status: "ok", message: "Request received." });
  const [{ data, source, requestId }] = await answer;
  assert.deepEqual([data, source, requestId], ["A good day to you.", "server", "own"]);
  assert.equal((await status)[0].status, "completed");
});

test("rooms: messages are seen by all, kept, changed by their writers, and answered to all", async () => {
  const operator = { clientType: "monitor", clientId: "boss", key: operatorKey };
  const rooms = await scene.connect("/rooms", operator);
  await ask(rooms, "CREATE_ROOM", { roomName: "tea" });
  await ask(rooms, "ADD_CLIENT_TO_ROOM", { identity: "ada", roomName: "tea", role: "manager" });
  await ask(rooms, "ADD_CLIENT_TO_ROOM", { identity: "bob", roomName: "tea" });
  await ask(rooms, "SET_ROOM_MESSAGE_REQUEST_MODE", { roomName: "tea", mode: "HostSubmit" });
  const bob = await join("/llm", "bob");
  const eve = await join("/llm", "eve");
  const ask_ = (from, fields) => ask(from, "LLM_REQUEST", { targetRoom: "tea", ...fields });

  const shown = next(ada, "NEW_MESSAGE");
  const queued = await ask_(bob, { requestId: "b1", message: "green or black?" });
  assert.match(queued.message, /queued/);
  const [{ roomName, message }] = await shown;
  assert.deepEqual([roomName, message.identity, message.data], ["tea", "bob", "green or black?"]);
  const outsider = await ask_(eve, { requestId: "e1", message: "me too" });
  assert.equal(outsider.status, "error");

  const merged = await request(ada, { targetRoom: "tea", message: "and hot?" });
  assert.equal(merged.message, "green or black?\n\nand hot?");
  const heard = Promise.all([ada, bob].map((member) => next(member, "message")));
  tavern.emit("message", { type: 0, data: "both", requestId: merged.requestId, outputId: "tea" });
  assert.deepEqual((await heard).map(([{ data }]) => data), ["both", "both"]);

  const edit = { roomName: "tea", messageId: message.messageId, updatedFields: { data: "green!" } };
  assert.equal((await ask(eve, "EDIT_MESSAGE", edit)).status, "error");
  const updated = next(ada, "MESSAGE_UPDATED");
  assert.equal((await ask(bob, "EDIT_MESSAGE", edit)).status, "ok");
  assert.equal((await updated)[0].message.data, "green!");

  const page = next(bob, "UPDATE_CONTEXT_PAGE");
  await ask(bob, "GET_OFFLINE_MESSAGES", { roomName: "tea" });
  const [{ contextPage, totalPages, isLastPage }] = await page;
  assert.deepEqual([totalPages, isLastPage], [1, true]);
  const texts = contextPage.filter((one) => !one.isSystem).map((one) => one.data);
  assert.deepEqual(texts, ["green!", "and hot?", "both"]);

  const typing = next(ada, "MEMBER_STATUS_UPDATE");
  bob.emit("START_TYPING", { targetRoom: "tea" });
  const [{ identity, status }] = await typing;
  assert.deepEqual([identity, status], ["bob", "typing"]);

  await ask(rooms, "MUTE_MEMBER", { targetIdentity: "bob", roomName: "tea", durationSeconds: 60 });
  assert.match((await ask_(bob, { requestId: "b2", message: "hm" })).message, /muted/);

  const ours = Promise.all([ada, bob].map((member) => next(member, "message")));
  await ask_(ada, { requestId: "a2", message: "server?", target: "server" });
  assert.deepEqual((await ours).map(([{ data }]) => data), Array(2).fill("And to the room."));

  assert.equal((await ask(bob, "CLEAR_MESSAGES", { roomName: "tea" })).status, "error");
  const cleared = next(bob, "MESSAGES_CLEARED");
  await ask(ada, "CLEAR_MESSAGES", { roomName: "tea" });
  assert.deepEqual((await cleared)[0], { clearedRequests: true, clearedResponses: true, roomName: "tea" });
});

test("the operator looks after the server", async () => {
  const debug = await scene.connect("/debug", { clientType: "monitor", clientId: "boss", key: operatorKey });
  const { serverStatus } = await ask(debug, "SERVER_STATUS");
  assert.equal(serverStatus.networkSafe, false);
  const changed = next(debug, "DEBUG_MODE_CHANGED");
  assert.deepEqual(await ask(debug, "TOGGLE_DEBUG_MODE", {}), { status: "ok", debugMode: true });
  assert.deepEqual(await changed, [{ debugMode: true }]);
  const log = await ask(debug, "READ_LOG", { filename: "combined.log", level: "all", page: 1, pageSize: 100 });
  assert.equal(log.status, "ok");
  assert.ok(log.lines.some((line) => line.message === "ada came to /llm"), JSON.stringify(log.lines[0]));
  assert.equal(JSON.stringify(log).includes(operatorKey), false);
});

test("what guests of a room say has not the rights of the operator who submits it", async () => {
  const operator = { clientType: "monitor", clientId: "boss", key: operatorKey };
  const rooms = await scene.connect("/rooms", operator);
  await ask(rooms, "CREATE_ROOM", { roomName: "den" });
  await ask(rooms, "ADD_CLIENT_TO_ROOM", { identity: "bob", roomName: "den" });
  await ask(rooms, "SET_ROOM_MESSAGE_REQUEST_MODE", { roomName: "den", mode: "HostSubmit" });
  const bob = await join("/llm", "bob");
  const boss = await scene.connect("/llm", operator);
  const say = (from, requestId, message) =>
    ask(from, "LLM_REQUEST", { targetRoom: "den", target: "server", requestId, message });
  assert.match((await say(bob, "g1", "/approve 1")).message, /queued/);
  const heard = next(bob, "message");
  assert.equal((await say(boss, "g2", "go on")).status, "ok");
  assert.match((await heard)[0].data, /^Only administrators can do that here/);
});
