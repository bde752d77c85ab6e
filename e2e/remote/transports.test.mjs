// The same call over every way that a client may come, from many clients, and across a broken
// connection.
import assert from "node:assert/strict";
import { test } from "node:test";
import { FUNCTIONS, Scene, ask, call, connected, next } from "./scene.mjs";

const scene = await Scene.open({ files: { "functions/basics.py": FUNCTIONS } });
const key = await scene.key();
const auth = (clientId) => ({ clientType: "web-app", clientId, key });

const WAYS = {
  polling: { transports: ["polling"] },
  upgrade: {},
  websocket: { transports: ["websocket"] },
};

for (const [way, options] of Object.entries(WAYS)) {
  test(`a call over ${way}`, async () => {
    const socket = scene.socket("/function_call", auth(way), options);
    const used = [];
    socket.io.on("open", () => {
      used.push(socket.io.engine.transport.name);
      socket.io.engine.on("upgrade", (transport) => used.push(transport.name));
    });
    await connected(socket);
    if (way === "upgrade" && used.length === 1) await next(socket.io.engine, "upgrade");
    assert.deepEqual(used, way === "upgrade" ? ["polling", "websocket"] : [way]);
    const answer = await ask(socket, "FUNCTION_CALL", {
      requestId: way,
      functionName: "add",
      args: [1, 2],
      target: "server",
    });
    assert.deepEqual(answer, { requestId: way, success: true, result: 3 });
  });

  test(`900 kB there and back over ${way}`, async () => {
    const socket = await scene.connect("/function_call", auth(way), options);
    const text = "界".repeat(300_000);
    const answer = await call(socket, "echo", [text]);
    assert.equal(answer.success, true, answer.error?.message);
    assert.equal(answer.result[0] === text, true);
  });
}

test("calls sent in the very moment of connecting are answered", async () => {
  for (let round = 0; round < 20; round++) {
    const socket = scene.socket("/function_call", auth(`eager-${round}`));
    const early = call(socket, "add", [round, 1]);
    assert.equal((await early).result, round + 1);
    socket.disconnect();
  }
});

test("several namespaces share one connection, and closing one leaves the others", async () => {
  const first = await scene.connect("/function_call", auth("sharing"), { forceNew: false });
  const second = first.io.socket("/clients", { auth: auth("sharing") });
  second.connect();
  await connected(second);
  second.disconnect();
  assert.equal((await call(first, "add", [2, 2])).result, 4);
});

test("20 clients at once, each with answers of its own", async () => {
  const clients = await Promise.all(
    Array.from({ length: 20 }, (_, number) =>
      scene.connect("/function_call", auth(`client-${number}`), Object.values(WAYS)[number % 3]),
    ),
  );
  const answers = clients.flatMap((client, number) =>
    Array.from({ length: 20 }, (_, turn) =>
      call(client, "add", [number * 1000, turn]).then((answer) => {
        assert.equal(answer.result, number * 1000 + turn);
      }),
    ),
  );
  await Promise.all(answers);
});

test("a call repeated after the connection broke has one effect and one answer", async () => {
  const socket = await scene.connect("/function_call", auth("broken"), {
    reconnection: true,
    reconnectionDelay: 50,
    transports: ["websocket"],
  });
  const data = { requestId: "kept", once: true, functionName: "note", args: ["x", 1], target: "server" };
  const lost = ask(socket, "FUNCTION_CALL", data);
  lost.catch(() => {});
  // The call is on its way before the connection goes.
  assert.equal((await call(socket, "add", [0, 1])).result, 1);
  const again = next(socket, "connect");
  socket.io.engine.close();
  await again;
  const answer = await ask(socket, "FUNCTION_CALL", data);
  assert.deepEqual(answer, { requestId: "kept", success: true, result: 1 });
  const count = await call(socket, "note", ["y"]);
  assert.equal(count.result, 2, "the first call's effect was made once");
});

test("an unknown namespace is refused by name", async () => {
  await assert.rejects(scene.connect("/nowhere", auth("lost")), /Invalid namespace/);
});

test("a wrong key is refused, and the connection can go on", async () => {
  const wrong = { clientType: "web-app", clientId: "thief", key: `${key}x` };
  const socket = scene.socket("/function_call", wrong, { forceNew: false });
  await assert.rejects(connected(socket), /Invalid key\./);
});

test("the client's own library is served", async () => {
  for (const name of ["socket.io.js", "socket.io.min.js", "socket.io.esm.min.js"]) {
    const answer = await fetch(`${scene.url}/socket.io/${name}`);
    assert.equal(answer.status, 200, name);
    assert.match(answer.headers.get("content-type"), /javascript/);
    assert.match(await answer.text(), /Socket\.IO v4\./);
  }
});
