import { FUNCTIONS, Scene, call } from "./scene.mjs";
import { test } from "node:test";
test("x", async () => {
  const scene = await Scene.open({ files: { "functions/basics.py": FUNCTIONS }, log: "info" });
  const key = await scene.key();
  const socket = await scene.connect("/function_call", { clientType: "w", clientId: "c", key });
  for (let i = 0; i < 6; i++) {
    console.log(Date.now() % 100000, JSON.stringify(await call(socket, "add", [1, 2])));
    await new Promise((r) => setTimeout(r, 1000));
  }
  console.log((await scene.callgate("methods")).filter((m) => ["add", "echo"].includes(m.name)));
  console.log(JSON.stringify(await call(socket, "add", [1, 2])));
  console.log(scene.log);
});
