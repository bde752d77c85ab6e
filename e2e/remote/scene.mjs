// A server of its own for each test file: the real binary on a free port of loopback, with a
// temporary data directory; and clients that are closed at the end, whatever happened.
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { after } from "node:test";
import { promisify } from "node:util";
import { io } from "socket.io-client";

const BINARY = process.env.CALLGATE;
if (!BINARY) throw new Error("CALLGATE must name the binary; the Rust tests of the cli do so");

/** Beyond it a test has hung. */
export const PATIENCE = 30_000;

/** The environment without anything that would configure the server or bring a real model. */
function environment(log = "warn") {
  const kept = Object.entries(process.env).filter(
    ([name]) => !name.startsWith("CALLGATE") && !name.endsWith("_API_KEY"),
  );
  return { ...Object.fromEntries(kept), CALLGATE_LOG: log, NO_COLOR: "1" };
}

export class Scene {
  #clients = new Set();
  #process;

  /** The folder of remote clients, in the data directory. */
  root = "remote";

  /** `files` lie in the data directory before the first start; `log` is how much is logged; `plugins` are
   * folders, whose packages are in the user's cache. */
  static async open({ files = {}, log, plugins = [] } = {}) {
    const scene = new Scene();
    scene.level = log;
    scene.plugins = plugins;
    scene.home = await mkdtemp(join(tmpdir(), "callgate-e2e-"));
    scene.data = join(scene.home, "data");
    await mkdir(scene.data);
    for (const [name, text] of Object.entries(files)) await scene.write(name, text);
    const cache = process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache");
    if (plugins.length) await symlink(join(cache, "callgate/environments"), join(scene.data, "environments"));
    await scene.start();
    after(() => scene.close());
    return scene;
  }

  async write(name, text) {
    const path = join(this.data, name);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, typeof text === "string" ? text : JSON.stringify(text));
  }

  async read(name) {
    return JSON.parse(await readFile(join(this.data, name), "utf8"));
  }

  async start() {
    const address = this.url ? new URL(this.url).host : "127.0.0.1:0";
    const options = ["serve", "--json", "--data", this.data, "--listen", address, ...this.plugins.flatMap((folder) => ["--plugin", folder])];
    this.#process = spawn(BINARY, options, {
      cwd: this.home,
      env: environment(this.level),
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.log = "";
    this.#process.stderr.on("data", (text) => (this.log += text));
    const lines = createInterface({ input: this.#process.stdout });
    const [line] = await once(lines, "line", { signal: AbortSignal.timeout(PATIENCE) });
    this.url = JSON.parse(line).address;
  }

  get alive() {
    return this.#process.exitCode === null && this.#process.signalCode === null;
  }

  /** As a power cut, for a process. */
  async kill() {
    const exit = once(this.#process, "exit");
    this.#process.kill("SIGKILL");
    await exit;
  }

  async restart() {
    await this.kill();
    await this.start();
  }

  /** What a command prints with `--json`, on the same data directory. */
  async callgate(...words) {
    const command = promisify(execFile);
    const options = [...words, "--json", "--data", this.data];
    const { stdout } = await command(BINARY, options, { cwd: this.home, env: environment() });
    return JSON.parse(stdout);
  }

  /** A new key; without scopes it may call methods of remote exposure. */
  async key(...options) {
    return (await this.callgate("key", "new", ...options)).key;
  }

  /** A socket that is not connected yet, over a connection of its own. */
  socket(namespace, auth = {}, options = {}) {
    const socket = io(this.url + namespace, {
      forceNew: true,
      reconnection: false,
      auth,
      ...options,
    });
    this.#clients.add(socket);
    return socket;
  }

  /** A connected socket. */
  async connect(namespace, auth, options) {
    const socket = this.socket(namespace, auth, options);
    await connected(socket);
    return socket;
  }

  async close() {
    for (const client of this.#clients) client.disconnect();
    if (this.alive) await this.kill();
    await rm(this.home, { recursive: true, force: true });
  }
}

/** Resolves when it is connected; throws what the server said if it is refused. */
export function connected(socket) {
  if (socket.connected) return Promise.resolve(socket);
  return new Promise((resolve, reject) => {
    socket.once("connect", () => resolve(socket));
    socket.once("connect_error", reject);
  });
}

/** A timer that nobody waits for once the server is gone: what a broken connection lost is never answered. */
function patience(giveUp) {
  return setTimeout(giveUp, PATIENCE).unref();
}

/** The arguments of the next `event` that is `wanted`. */
export function next(socket, event, wanted = () => true) {
  return new Promise((resolve, reject) => {
    const late = patience(() => reject(new Error(`no ${event} came`)));
    const heard = (...args) => {
      if (!wanted(...args)) return;
      clearTimeout(late);
      socket.off(event, heard);
      resolve(args);
    };
    socket.on(event, heard);
  });
}

/** Emits and waits for the one acknowledgement; more than one argument is a failure. */
export function ask(socket, event, ...args) {
  return new Promise((resolve, reject) => {
    const late = patience(() => reject(new Error(`${event} was not answered`)));
    socket.emit(event, ...args, (...answer) => {
      clearTimeout(late);
      if (answer.length === 1) resolve(answer[0]);
      else reject(new Error(`${event}: ${answer.length} arguments came back`));
    });
  });
}

let calls = 0;

/** A function call with a request id of its own. */
export function call(socket, functionName, args, target = "server") {
  const requestId = `call-${++calls}`;
  return ask(socket, "FUNCTION_CALL", { requestId, functionName, args, target });
}

/** The functions that an operator would put beside the database. */
export const FUNCTIONS = `
import time


def add(a, b):
    """Adds two numbers."""
    return a + b


def echo(a=None, b=None, c=None, d=None):
    """Gives back what it got."""
    return [a, b, c, d]


def fail(text: str):
    raise ValueError(text)


def nap(seconds: float) -> str:
    time.sleep(seconds)
    return "rested"


DONE: list[str] = []


def note(text: str, seconds: float = 0) -> int:
    """Keeps a line and says how many there are."""
    DONE.append(text)
    time.sleep(seconds)
    return len(DONE)


def _hidden():
    return "never"
`;
