// The API of the real binary, over the fake server of models that `aimock.mjs` is, for the official
// SDKs.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { after } from "node:test";
import { PATIENCE, Scene } from "../remote/scene.mjs";

/** The smallest picture there is. */
export const PICTURE =
  "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

async function fakeModels() {
  const program = new URL("../aimock.mjs", import.meta.url).pathname;
  const server = spawn("node", [program, new URL("./models.json", import.meta.url).pathname], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  after(() => server.stdin.end());
  const lines = createInterface({ input: server.stdout });
  const [url] = await once(lines, "line", { signal: AbortSignal.timeout(PATIENCE) });
  return url;
}

/** Ready to answer, with a key of these scopes. */
export async function open(...scopes) {
  const models = await fakeModels();
  const config = `
[models]
default = "fake"
embedding = "fake"

[[models.list]]
id = "fake"
base_url = "${models}/v1"
model = "gpt-fake"
keys = ["sk-fake"]
accepts = { image = true }
retries = 0
`;
  const scene = await Scene.open({ files: { "callgate.toml": config } });
  const options = scopes.flatMap((scope) => ["--scope", scope]);
  const made = await scene.callgate("key", "new", ...options);
  await ready(scene, made.key);
  return { scene, key: made.key, id: made.id, base: `${scene.url}/v1` };
}

/** Models are looked for behind a server that answers already. */
async function ready(scene, key) {
  const headers = { authorization: `Bearer ${key}` };
  const until = Date.now() + PATIENCE;
  while (!(await fetch(`${scene.url}/v1/models/model/fake`, { headers })).ok) {
    if (Date.now() > until) throw new Error("models were never found");
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
