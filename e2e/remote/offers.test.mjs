// A client offers functions of its own; code of the AI and other clients call them.
import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { Scene, ask } from "./scene.mjs";

const scene = await Scene.open();
const key = await scene.key("--scope", "operator");

test("code in the sandbox calls what a client offers, while it is connected", async () => {
  const socket = await scene.connect("/function_call", { clientType: "web-app", clientId: "shop", key });
  socket.on("FUNCTION_CALL", (data, reply) => {
    assert.equal(data.functionName, "price");
    reply({ requestId: data.requestId, success: true, result: data.args[0].length * 10 });
  });
  const offered = await ask(socket, "REGISTER_FUNCTIONS", [
    {
      name: "price",
      description: "What an article costs.",
      parameters: {
        type: "object",
        properties: { article: { type: "string" } },
        required: ["article"],
      },
      kind: "tool",
    },
  ]);
  assert.deepEqual(offered.result?.registered, ["price"], JSON.stringify(offered));
  const file = join(scene.home, "buy.py");
  await writeFile(file, "print(price('tea') + 1)\n");
  const run = await scene.callgate("run", file);
  assert.deepEqual([run.stop, run.stdout], ["finished", "31\n"], JSON.stringify(run));
  assert.equal(run.calls[0].method, "price");
  socket.disconnect();
  const after = await scene.callgate("run", file).catch((error) => JSON.parse(error.stdout));
  assert.equal(after.stop, "error");
});
