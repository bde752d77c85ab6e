// OpenAI's own client for Python.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { promisify } from "node:util";
import { PATIENCE } from "../remote/scene.mjs";
import { open, PICTURE } from "./scene.mjs";

const { key, base } = await open("chat", "models");

test("the client for Python lists, chats, calls, sees, is refused, and goes on", async () => {
  const here = new URL(".", import.meta.url).pathname;
  const script = [`${here}client.py`, base, key, PICTURE];
  const env = { ...process.env, PYTHONPATH: `${here}../python_modules` };
  const run = promisify(execFile)("/usr/bin/python3", script, { env, timeout: PATIENCE });
  assert.equal((await run).stdout, "fine\n");
});
