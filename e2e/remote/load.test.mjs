// Nothing is dropped and nothing is overtaken, however much is sent at once.
import assert from "node:assert/strict";
import { test } from "node:test";
import { FUNCTIONS, Scene, connected } from "./scene.mjs";

const scene = await Scene.open({ files: { "functions/basics.py": FUNCTIONS } });
const key = await scene.key();
const auth = (clientId) => ({ clientType: "web-app", clientId, key });

const CALLS = 5_000;
const EMITS = 2_000;

for (const transport of ["websocket", "polling"]) {
  test(`${CALLS} pipelined calls over ${transport}: as many answers, in order`, async () => {
    const options = { transports: [transport] };
    const socket = await scene.connect("/function_call", auth(`many-${transport}`), options);
    const order = [];
    await new Promise((resolve) => {
      for (let number = 0; number < CALLS; number++) {
        const path = "settings/none.json";
        const data = { requestId: number, functionName: "readJsonFromFile", args: [path], target: "server" };
        socket.emit("FUNCTION_CALL", data, (answer) => {
          order.push(answer.requestId);
          if (order.length === CALLS) resolve();
        });
      }
    });
    assert.equal(order.findIndex((requestId, place) => requestId !== place), -1);
  });
}

test(`a burst of ${EMITS} to another client arrives whole and in order`, async () => {
  const caller = await scene.connect("/function_call", auth("caller"));
  const target = await scene.connect("/function_call", auth("target"));
  const seen = [];
  target.on("FUNCTION_CALL", (data, reply) => {
    seen.push(data.requestId);
    reply({ requestId: data.requestId, success: true, result: null });
  });
  const answers = await Promise.all(
    Array.from({ length: EMITS }, (_, requestId) => {
      const data = { requestId, functionName: "f", args: [], target: "target" };
      return new Promise((resolve) => caller.emit("FUNCTION_CALL", data, resolve));
    }),
  );
  assert.ok(answers.every((answer) => answer.success));
  assert.equal(seen.length, EMITS);
  assert.equal(seen.findIndex((requestId, place) => requestId !== place), -1);
});

test("more calls under way than one client may have: each waits its turn and is answered", async () => {
  const socket = await scene.connect("/function_call", auth("eager"));
  const answers = await Promise.all(
    Array.from({ length: 400 }, (_, requestId) => {
      const data = { requestId, functionName: "nap", args: [0.02], target: "server" };
      return new Promise((resolve) => socket.emit("FUNCTION_CALL", data, resolve));
    }),
  );
  assert.ok(answers.every((answer) => answer.result === "rested"));
});

test("a client that does not read holds up nobody else", async () => {
  const stuck = scene.socket("/function_call", auth("stuck"), { transports: ["websocket"] });
  await connected(stuck);
  // The kernel's buffers fill; the server must not.
  stuck.io.engine.transport.ws._socket.pause();
  for (let number = 0; number < 500; number++) {
    const data = { requestId: number, functionName: "echo", args: ["x".repeat(10_000)], target: "server" };
    stuck.emit("FUNCTION_CALL", data, () => {});
  }
  const other = await scene.connect("/function_call", auth("other"));
  const answer = await new Promise((resolve) => {
    const data = { requestId: 1, functionName: "add", args: [1, 2], target: "server" };
    other.emit("FUNCTION_CALL", data, resolve);
  });
  assert.equal(answer.result, 3);
  // A paused socket does not notice that the other side has gone.
  stuck.io.engine.transport.ws.terminate();
});
