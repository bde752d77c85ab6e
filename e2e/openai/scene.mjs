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

/** All that comes of it, as a list. */
export async function all(stream) {
  const list = [];
  for await (const item of stream) list.push(item);
  return list;
}

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
  return openOver({ fake: { base_url: `${await fakeModels()}/v1` } }, ...scopes);
}

/** The same over other servers of models: settings by id, the first is the default. */
export async function openOver(models, ...scopes) {
  const listed = Object.entries(models).map(
    ([id, settings]) => `
[[models.list]]
id = "${id}"
model = "gpt-fake"
keys = ["sk-fake"]
accepts = { image = true }
retries = 0
${Object.entries(settings)
  .map(([name, value]) => `${name} = ${JSON.stringify(value)}`)
  .join("\n")}
`,
  );
  const [first] = Object.keys(models);
  const config = `[models]\ndefault = "${first}"\nembedding = "${first}"\n${listed.join("")}`;
  const scene = await Scene.open({ files: { "callgate.toml": config } });
  const options = scopes.flatMap((scope) => ["--scope", scope]);
  const made = await scene.callgate("key", "new", ...options);
  await ready(scene, made.key, first);
  return { scene, key: made.key, id: made.id, base: `${scene.url}/v1` };
}

/** Models are looked for behind a server that answers already. */
async function ready(scene, key, first) {
  const headers = { authorization: `Bearer ${key}` };
  const until = Date.now() + PATIENCE;
  while (!(await fetch(`${scene.url}/v1/models/model/${first}`, { headers })).ok) {
    if (Date.now() > until) throw new Error("models were never found");
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
