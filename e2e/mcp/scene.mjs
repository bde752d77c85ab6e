// The real binary on a data directory of its own, and the conformance suite run on it.
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

export const BINARY = process.env.CALLGATE;
if (!BINARY) throw new Error("CALLGATE must name the binary; the Rust tests of the cli do so");

export const HERE = dirname(fileURLToPath(import.meta.url));
const SUITE = join(HERE, "node_modules/@modelcontextprotocol/conformance/dist/index.js");
const SESSION = "mcp:FriendMessage:operator";
/** Beyond it something has hung. */
const PATIENCE = 30_000;

/** The environment without anything that would configure the server or bring a real model. */
export function environment(more = {}) {
  const kept = Object.entries(process.env).filter(
    ([name]) => !name.startsWith("CALLGATE_") && !name.endsWith("_API_KEY"),
  );
  return { ...Object.fromEntries(kept), NO_COLOR: "1", ...more };
}

export class Scene {
  #process;

  /** `config` is made for the data directory that it is told. */
  static async open(config = () => "") {
    const scene = new Scene();
    scene.home = await mkdtemp(join(tmpdir(), "callgate-mcp-"));
    scene.data = join(scene.home, "data");
    await mkdir(scene.data);
    await writeFile(join(scene.data, "callgate.toml"), config(scene.data));
    return scene;
  }

  /** Serves, with the plugins at these paths; `url` and the operator's `key` are known then. */
  async serve(...plugins) {
    const given = plugins.flatMap((path) => ["--plugin", path]);
    const options = ["serve", "--json", "--data", this.data, "--listen", "127.0.0.1:0", ...given];
    this.#process = spawn(BINARY, options, {
      cwd: this.home,
      env: environment(),
      stdio: ["ignore", "pipe", "inherit"],
    });
    const lines = createInterface({ input: this.#process.stdout });
    const [line] = await once(lines, "line", { signal: AbortSignal.timeout(PATIENCE) });
    const { address, login } = JSON.parse(line);
    this.url = address;
    this.key = login.split("#")[1];
  }

  /** What a command prints with `--json`, on the same data directory. */
  async callgate(...words) {
    const options = [...words, "--json", "--data", this.data];
    const { stdout } = await promisify(execFile)(BINARY, options, {
      cwd: this.home,
      env: environment(),
    });
    return JSON.parse(stdout);
  }

  /** One request that stands for itself, as the newest version of the protocol has them. */
  ask(method, params = {}, signal = undefined) {
    const version = "2026-07-28";
    const _meta = {
      "io.modelcontextprotocol/protocolVersion": version,
      "io.modelcontextprotocol/clientInfo": { name: "fixtures", version: "1" },
      "io.modelcontextprotocol/clientCapabilities": {},
    };
    return fetch(`${this.url}/mcp`, {
      method: "POST",
      signal,
      headers: {
        authorization: `Bearer ${this.key}`,
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        "mcp-protocol-version": version,
        "mcp-method": method,
      },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: { ...params, _meta } }),
    });
  }

  /** Runs code in the sandbox, in the session of the operator's MCP clients. */
  async run(code) {
    const options = ["run", "-", "--session", SESSION, "--json", "--data", this.data];
    const child = spawn(BINARY, options, { cwd: this.home, env: environment(), stdio: ["pipe", "ignore", "inherit"] });
    child.stdin.end(code);
    const [status] = await once(child, "exit");
    if (status !== 0) throw new Error(`code that failed:\n${code}`);
  }

  async close() {
    if (this.#process && this.#process.exitCode === null) {
      const exit = once(this.#process, "exit");
      this.#process.kill("SIGKILL");
      await exit;
    }
    await rm(this.home, { recursive: true, force: true });
  }
}

/** Runs the suite; throws with all it said if it does not pass. */
export async function suite(...words) {
  const expected = ["--expected-failures", join(HERE, "not-applicable.yml")];
  const run = spawn(process.execPath, [SUITE, ...words, ...expected], {
    cwd: HERE,
    env: environment(),
    stdio: ["ignore", "pipe", "pipe"],
  });
  let said = "";
  run.stdout.on("data", (text) => (said += text));
  run.stderr.on("data", (text) => (said += text));
  const [code] = await once(run, "exit");
  if (code !== 0) throw new Error(`${words.join(" ")}\n${said}`);
  return said;
}
