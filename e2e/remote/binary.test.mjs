// Bytes: what a client sends as a Buffer arrives as bytes, and bytes leave as the Buffers of whoever
// gets them: in answers, in calls of their functions, in what others answer.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Scene, ask, call } from "./scene.mjs";

const FUNCTIONS = `
def echo(value):
    return {"got": value, "size": len(value)}


def make(count: int):
    return [bytes([number]) * 3 for number in range(count)]
`;
const scene = await Scene.open({ files: { "functions/bytes.py": FUNCTIONS } });
const key = await scene.key();
const auth = (clientId) => ({ clientType: "web-app", clientId, key });

for (const transports of [["websocket"], ["polling"]]) {
  const options = { transports };

  test(`a Buffer comes back as a Buffer, by ${transports}`, async () => {
    const socket = await scene.connect("/function_call", auth(`app-${transports}`), options);
    const sent = Buffer.from([0, 1, 254, 255]);
    const { result } = await call(socket, "echo", [sent]);
    assert.ok(Buffer.isBuffer(result.got), JSON.stringify(result));
    assert.deepEqual([result.got, result.size], [sent, 4]);
    const made = (await call(socket, "make", [10])).result;
    assert.equal(made.length, 10);
    made.forEach((bytes, number) => assert.deepEqual(bytes, Buffer.alloc(3, number)));
    // More attachments than ten end a client's connection: then they come as on every JSON surface.
    const many = (await call(socket, "make", [11])).result;
    many.forEach(({ value }, number) => assert.deepEqual(Buffer.from(value, "base64"), Buffer.alloc(3, number)));
    assert.equal((await call(socket, "make", [0])).result.length, 0, "and what follows is not disturbed");
  });

  test(`so it does from one client to another and back, by ${transports}`, async () => {
    const [caller, target] = [`caller-${transports}`, `target-${transports}`];
    const answering = await scene.connect("/function_call", auth(target), options);
    answering.on("FUNCTION_CALL", ({ requestId, args: [given] }, reply) => {
      assert.ok(Buffer.isBuffer(given), "the argument");
      reply({ requestId, success: true, result: { turned: Buffer.from(given).reverse() } });
    });
    const socket = await scene.connect("/function_call", auth(caller), options);
    const { result } = await call(socket, "turn", [Buffer.from("abc")], target);
    assert.deepEqual(result.turned, Buffer.from("cba"));
    const offer = { name: "turn", parameters: { type: "object", properties: { given: {} } } };
    assert.equal((await ask(answering, "REGISTER_FUNCTIONS", [offer])).success, true);
    assert.deepEqual((await call(socket, "turn", [Buffer.from("xyz")])).result.turned, Buffer.from("zyx"));
    answering.disconnect();
  });
}

test("data that looks like an attachment ends no connection", async () => {
  const socket = await scene.connect("/function_call", auth("hostile"), { transports: ["websocket"] });
  const odd = [{ $type: "bytes", value: "YWJj" }, { _placeholder: true, num: 9 }];
  const { result } = await call(socket, "echo", [odd]);
  assert.equal(result.size, 2);
  assert.equal((await call(socket, "make", [1])).result.length, 1, "still connected");
});
