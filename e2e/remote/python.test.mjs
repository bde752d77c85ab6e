// The client of another language.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { promisify } from "node:util";
import { FUNCTIONS, PATIENCE, Scene } from "./scene.mjs";

const scene = await Scene.open({ files: { "functions/basics.py": FUNCTIONS } });

test("python-socketio calls, is called, and is refused", async () => {
  const here = new URL(".", import.meta.url).pathname;
  const script = [`${here}client.py`, scene.url, await scene.key()];
  const env = { ...process.env, PYTHONPATH: `${here}../python_modules` };
  const { stdout } = await promisify(execFile)("/usr/bin/python3", script, { env, timeout: PATIENCE });
  assert.equal(stdout, "fine\n");
});
