// Rooms: roles and what they allow, modes, policies; all of it over a restart.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Scene, ask, next } from "./scene.mjs";

const scene = await Scene.open();
const operatorKey = await scene.key("--scope", "operator");
const join = (namespace, clientId, key, clientType = "web-app") =>
  scene.connect(namespace, { clientType, clientId, key });
const boss = await join("/rooms", "boss", operatorKey, "monitor");
const keys = {};
for (const name of ["ada", "bob", "eve"]) keys[name] = await scene.key("--client", name);
const ada = await join("/rooms", "ada", keys.ada);
const bob = await join("/rooms", "bob", keys.bob);
const eve = await join("/rooms", "eve", keys.eve, "monitor");

async function ok(...call) {
  const answer = await ask(...call);
  assert.equal(answer.status, "ok", answer.message);
  return answer;
}

async function refused(pattern, ...call) {
  const answer = await ask(...call);
  assert.equal(answer.status, "error", JSON.stringify(answer));
  assert.match(answer.message, pattern);
}

test("saying that one is a monitor gives no rights", async () => {
  await refused(/Unauthorized/, eve, "CREATE_ROOM", { roomName: "lair" });
  await refused(/Unauthorized/, eve, "SET_CONNECTION_POLICY", { policy: "Manual" });
  const clients = await join("/clients", "eve", keys.eve, "monitor");
  await refused(/Unauthorized/, clients, "GENERATE_CLIENT_KEY", { targetClientId: "ada" });
  await refused(/Unauthorized/, clients, "REMOVE_CLIENT_KEY", { targetClientId: "ada" });
  const { keys: seen } = await ok(clients, "GET_ALL_CLIENT_KEYS");
  assert.deepEqual(Object.keys(seen), ["eve"]);
  assert.equal(JSON.stringify(seen).includes(keys.eve), false);
  await assert.rejects(join("/debug", "eve", keys.eve, "monitor"), /Unauthorized/);
});

test("nobody takes the name of another", async () => {
  await assert.rejects(join("/rooms", "ada", keys.eve), /Client is not trusted|Invalid key/);
});

test("rooms are made, joined and left, and members hear of it", async () => {
  await ok(boss, "CREATE_ROOM", { roomName: "tea" });
  await refused(/already exists/, boss, "CREATE_ROOM", { roomName: "tea" });
  const told = next(ada, "MEMBER_ROLE_CHANGED");
  await ok(boss, "ADD_CLIENT_TO_ROOM", { identity: "ada", roomName: "tea", role: "master" });
  assert.deepEqual(await told, [{ clientId: "ada", identity: "ada", roomName: "tea", role: "master" }]);
  const joined = next(ada, "MEMBER_JOINED");
  // Compat: the extension says clientId where documents say identity.
  await ok(ada, "ADD_CLIENT_TO_ROOM", { clientId: "bob", roomName: "tea" });
  assert.equal((await joined)[0].identity, "bob");
  await refused(/Unauthorized/, eve, "ADD_CLIENT_TO_ROOM", { identity: "eve", roomName: "tea" });
  assert.deepEqual((await ok(bob, "GET_ROOMS")).rooms, ["tea"]);
  const { clients } = await ok(bob, "GET_CLIENTS_IN_ROOM", { roomName: "tea" });
  const roles = Object.fromEntries(clients.map((client) => [client.clientId, client.role]));
  assert.deepEqual(roles, { boss: "manager", ada: "master", bob: "guest" });
});

test("a manager manages guests and no one above", async () => {
  await ok(ada, "SET_MEMBER_ROLE", { targetIdentity: "bob", roomName: "tea", role: "manager" });
  await refused(/Unauthorized/, bob, "SET_MEMBER_ROLE", { targetIdentity: "ada", roomName: "tea", role: "guest" });
  await refused(/Unauthorized/, bob, "KICK_MEMBER", { targetIdentity: "boss", roomName: "tea" });
  await ok(bob, "ADD_CLIENT_TO_ROOM", { identity: "eve", roomName: "tea" });
  const warned = next(eve, "WARNING");
  await ok(bob, "KICK_MEMBER", { targetIdentity: "eve", roomName: "tea" });
  assert.match((await warned)[0].message, /kicked from room tea/);
  await refused(/role/, ada, "SET_MEMBER_ROLE", { targetIdentity: "bob", roomName: "tea", role: "king" });
  await ok(ada, "SET_MEMBER_ROLE", { targetIdentity: "bob", roomName: "tea", role: "guest" });
});

test("modes are set by hosts, and everybody hears of it", async () => {
  const changed = next(bob, "ROOM_MODE_CHANGED");
  await ok(ada, "SET_ROOM_MESSAGE_REQUEST_MODE", { roomName: "tea", mode: "MasterOnly" });
  assert.deepEqual(await changed, [{ roomName: "tea", mode: "MasterOnly", setter: "ada" }]);
  await refused(/Unauthorized/, bob, "SET_ROOM_MESSAGE_REQUEST_MODE", { roomName: "tea", mode: "Immediate" });
  await refused(/mode/, ada, "SET_ROOM_MESSAGE_REQUEST_MODE", { roomName: "tea", mode: "Anarchy" });
});

test("policies decide which SillyTavern clients are whose", async () => {
  const taverns = ["tavern-1", "tavern-2"];
  for (const name of taverns) {
    const admin = await join("/clients", "boss", operatorKey);
    const { key } = await ok(admin, "GENERATE_CLIENT_KEY", { targetClientId: name });
    admin.disconnect();
    await join("/llm", name, key, "SillyTavern");
  }
  const extensionsOf = async (client) => (await ok(client, "GET_ASSIGNMENTS")).assignments;
  assert.deepEqual((await extensionsOf(ada)).ada, taverns);
  await ok(boss, "SET_CONNECTION_POLICY", { policy: "Balanced" });
  const balanced = await extensionsOf(ada);
  assert.equal(balanced.ada.length, 1);
  assert.notDeepEqual(balanced.ada, balanced.bob);
  await refused(/Manual/, boss, "ASSIGN_EXTENSION_TO_CLIENT", { clientRoom: "ada", extensions: taverns });
  const told = next(ada, "AVAILABLE_EXTENSIONS");
  await ok(boss, "SET_CONNECTION_POLICY", { policy: "Manual" });
  await told;
  await ok(boss, "ASSIGN_EXTENSION_TO_CLIENT", { clientRoom: "ada", extensions: ["tavern-2"] });
  const { assignments } = await ok(bob, "GET_ASSIGNMENTS_FOR_ROOM", { roomName: "ada" });
  assert.deepEqual(assignments, ["tavern-2"]);
  await refused(/policy/, boss, "SET_CONNECTION_POLICY", { policy: "Chaos" });
});

test("an identity is one instance of a client: a member of its own, heard and told apart", async () => {
  const as = (namespace, identity) =>
    scene.connect(namespace, { clientType: "web-app", clientId: "ada", identity, key: keys.ada });
  const [phone, desk] = [await as("/rooms", "ada-phone"), await as("/rooms", "ada-desk")];
  await ok(boss, "CREATE_ROOM", { roomName: "talk" });
  const joined = next(phone, "MEMBER_ROLE_CHANGED");
  desk.on("MEMBER_ROLE_CHANGED", () => assert.fail("another instance was told"));
  await ok(boss, "ADD_CLIENT_TO_ROOM", { identity: "ada-phone", roomName: "talk", role: "manager" });
  assert.equal((await joined)[0].identity, "ada-phone");
  desk.off("MEMBER_ROLE_CHANGED");
  await ok(phone, "SET_ROOM_MESSAGE_REQUEST_MODE", { roomName: "talk", mode: "Conversational" });
  await refused(/Unauthorized/, desk, "SET_ROOM_MESSAGE_REQUEST_MODE", { roomName: "talk", mode: "Immediate" });
  const { clients } = await ok(bob, "GET_CLIENTS_IN_ROOM", { roomName: "talk" });
  const members = clients.map(({ clientId, identity, role }) => [clientId, identity, role]);
  assert.deepEqual(members, [["boss", "boss", "master"], ["ada-phone", "ada-phone", "manager"]]);

  const [speaking, silent] = [await as("/llm", "ada-phone"), await as("/llm", "ada-desk")];
  silent.on("NEW_MESSAGE", () => assert.fail("another instance heard it"));
  const heard = next(speaking, "NEW_MESSAGE");
  const say = (requestId) => ({ targetRoom: "talk", requestId, message: "hello" });
  await ok(speaking, "LLM_REQUEST", say("one"));
  assert.equal((await heard)[0].message.identity, "ada-phone");
  await refused(/unauthorized target room/, silent, "LLM_REQUEST", say("two"));

  // A client as a whole is a member too, and then each of its instances is; told once.
  silent.off("NEW_MESSAGE");
  await ok(boss, "ADD_CLIENT_TO_ROOM", { clientId: "ada", roomName: "talk" });
  let times = 0;
  const said = ({ message }) => message.identity === "ada-desk";
  speaking.on("NEW_MESSAGE", (data) => (times += said(data)));
  const both = next(silent, "NEW_MESSAGE", said);
  await ok(silent, "LLM_REQUEST", say("three"));
  await both;
  await ok(speaking, "GET_OFFLINE_MESSAGES", { roomName: "talk" });
  assert.equal(times, 1);

  // An identity is a name like any other: it is nobody else's.
  const taken = { clientType: "web-app", clientId: "eve", identity: "ada-phone", key: keys.eve };
  await assert.rejects(scene.connect("/rooms", taken), /Invalid key/);
  await assert.rejects(join("/rooms", "ada-phone", await scene.key()), /belongs to somebody else/);
  await ok(boss, "DELETE_ROOM", { roomName: "talk" });
  for (const socket of [phone, desk, speaking, silent]) socket.disconnect();
});

test("all of it is there after the server was killed", async () => {
  await scene.restart();
  const again = await join("/rooms", "ada", keys.ada);
  assert.deepEqual((await ok(again, "GET_ROOMS")).rooms, ["tea"]);
  assert.equal((await ok(again, "GET_CONNECTION_POLICY")).policy, "Manual");
  const { clients } = await ok(again, "GET_CLIENTS_IN_ROOM", { roomName: "tea" });
  assert.equal(clients.find((client) => client.clientId === "ada").role, "master");
  await ok(again, "SET_ROOM_MESSAGE_REQUEST_MODE", { roomName: "tea", mode: "Immediate" });
  const deleted = next(again, "DELETE_ROOM");
  await ok(again, "DELETE_ROOM", { roomName: "tea" });
  assert.equal((await deleted)[0].roomName, "tea");
  await refused(/not found/, again, "GET_CLIENTS_IN_ROOM", { roomName: "tea" });
});
