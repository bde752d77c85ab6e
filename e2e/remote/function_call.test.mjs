// What the document on function calls says, seen by the real client. Ids are those of
// docs/seeds.md.
import assert from "node:assert/strict";
import { mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { FUNCTIONS, Scene, ask, call } from "./scene.mjs";

const scene = await Scene.open({
  files: {
    "functions/basics.py": FUNCTIONS,
    "callgate.toml": '[remote]\nrestricted_files = ["settings/secret.json", "private"]\n',
  },
  log: "info",
});
const key = await scene.key();
const auth = { clientType: "web-app", clientId: "reader", key };
let socket = await scene.connect("/function_call", auth);

test("S-40, S-42: the first client example", async () => {
  const printed = [];
  const print = (response) => {
    if (response.success) printed.push(["Result:", response.result]);
    else printed.push(["Error:", response.error]);
  };
  const data = { requestId: "123", functionName: "add", args: [1, 2], target: "server" };
  print(await ask(socket, "FUNCTION_CALL", data));
  print(await ask(socket, "FUNCTION_CALL", { ...data, requestId: "124", functionName: "adds" }));
  assert.deepEqual(printed[0], ["Result:", 3]);
  assert.deepEqual(printed[1], ["Error:", { message: 'Function "adds" not found.' }]);
});

test("S-41: the second client example", async () => {
  await scene.write(`${scene.root}/settings/config.json`, { theme: "dark" });
  const response = await ask(socket, "FUNCTION_CALL", {
    requestId: "456",
    functionName: "readJsonFromFile",
    args: ["/settings/config.json"],
    target: "server",
  });
  const result = { success: true, result: { theme: "dark" } };
  assert.deepEqual(response, { requestId: "456", success: true, result });
});

test("S-02: other namespaces run no functions", async () => {
  const elsewhere = await scene.connect("/clients", auth);
  const data = { requestId: "1", functionName: "note", args: ["no"], target: "server" };
  const answer = await Promise.race([
    ask(elsewhere, "FUNCTION_CALL", data).then((answer) => answer.success === true),
    new Promise((resolve) => setTimeout(() => resolve(false), 500)),
  ]);
  assert.equal(answer, false);
});

test("S-02: the numeric event of old clients", async () => {
  const data = { requestId: "old", functionName: "add", args: [20, 2], target: "server" };
  assert.equal((await ask(socket, 22, data)).result, 22);
});

test("S-03: every type of client gets the same", async () => {
  for (const clientType of ["SillyTavern", "web-app", "monitor"]) {
    const client = await scene.connect("/function_call", { ...auth, clientType });
    assert.equal((await call(client, "add", [1, 2])).result, 3);
  }
});

test("S-04, S-11: each answer carries its own request id, of any type", async () => {
  const ids = ["text", 7, 1.5, null, true, ["list"], { object: 1 }];
  const slow = call(socket, "nap", [0.3]);
  const answers = await Promise.all(
    ids.map((requestId) => {
      const data = { requestId, functionName: "add", args: [1, 1], target: "server" };
      return ask(socket, "FUNCTION_CALL", data);
    }),
  );
  assert.deepEqual(answers.map((answer) => answer.requestId), ids);
  assert.equal((await slow).result, "rested");
});

test("S-04: a request id that is used again is another call", async () => {
  const data = { requestId: "123", functionName: "note", args: ["again"], target: "server" };
  const counts = [];
  for (let time = 0; time < 3; time++) counts.push((await ask(socket, "FUNCTION_CALL", data)).result);
  assert.deepEqual(counts, [counts[0], counts[0] + 1, counts[0] + 2]);
});

test("S-04: for a client that says once, it is answered from the record, also after kill -9", async () => {
  const other = { ...auth, clientId: "counter" };
  let asked = 0;
  const counts = async () => {
    const counter = await scene.connect("/function_call", other);
    counter.on("FUNCTION_CALL", (data, reply) => reply({ success: true, result: ++asked }));
  };
  await counts();
  const here = { requestId: "a", once: true, functionName: "note", args: ["once"], target: "server" };
  const there = { ...here, requestId: "b", target: "counter" };
  const made = [await ask(socket, "FUNCTION_CALL", here), await ask(socket, "FUNCTION_CALL", there)];
  assert.ok(made.every((answer) => answer.success), JSON.stringify(made));
  // Cut off while it is made: nobody knows whether it was, so it is not made again.
  const cut = { ...here, requestId: "c", functionName: "nap", args: [20] };
  socket.emit("FUNCTION_CALL", cut, () => {});
  assert.equal((await call(socket, "add", [0, 1])).result, 1);
  await scene.restart();
  socket = await scene.connect("/function_call", auth);
  await counts();
  assert.deepEqual(await ask(socket, "FUNCTION_CALL", here), made[0]);
  assert.deepEqual(await ask(socket, "FUNCTION_CALL", there), made[1]);
  assert.equal(asked, 1, "the other client was asked once");
  // The worker is new and has counted nothing yet.
  assert.equal((await call(socket, "note", ["first"])).result, 1, "nothing was noted again");
  const unknown = await ask(socket, "FUNCTION_CALL", cut);
  assert.match(unknown.error.message, /unknown/);
  const reused = await ask(socket, "FUNCTION_CALL", { ...here, args: ["another"] });
  assert.match(reused.error.message, /requestId/);
});

test("S-06: arguments arrive in order; an object is one, nothing is none", async () => {
  const args = [1, "a", null, { k: [2] }];
  assert.deepEqual((await call(socket, "echo", args)).result, args);
  assert.deepEqual((await call(socket, "echo", { k: 1 })).result, [{ k: 1 }, null, null, null]);
  assert.deepEqual((await call(socket, "echo")).result, [null, null, null, null]);
});

test("S-07: what runs here is nobody else's to see", async () => {
  const other = await scene.connect("/function_call", { ...auth, clientId: "onlooker" });
  other.onAny((event) => assert.fail(`it was told of ${event}`));
  assert.equal((await call(socket, "add", [3, 4])).result, 7);
  assert.equal((await call(other, "add", [3, 4])).result, 7);
});

test("S-08: another client as target gets the original data, and its answer is ours", async () => {
  const target = { clientType: "SillyTavern", clientId: "tavern", key };
  const [deaf, listening] = await Promise.all([
    scene.connect("/function_call", target),
    scene.connect("/function_call", target),
  ]);
  deaf.on("FUNCTION_CALL", () => {});
  let seen;
  listening.on("FUNCTION_CALL", (data, reply) => {
    seen = data;
    reply({ requestId: data.requestId, success: true, result: `got ${data.args[0]}` });
  });
  const data = { requestId: "there", functionName: "any", args: ["x"], target: "tavern", more: 1 };
  const answer = await ask(socket, "FUNCTION_CALL", data);
  assert.deepEqual(answer, { requestId: "there", success: true, result: "got x" });
  assert.deepEqual(seen, data);
});

test("S-09: a target that is unknown, gone, silent or missing is an error", async () => {
  const silent = await scene.connect("/function_call", { ...auth, clientId: "silent" });
  silent.on("FUNCTION_CALL", () => {});
  const leaving = await scene.connect("/function_call", { ...auth, clientId: "leaving" });
  leaving.on("FUNCTION_CALL", () => leaving.disconnect());
  for (const target of ["nobody", "leaving", "silent", undefined, null, 7]) {
    const data = { requestId: "t", functionName: "add", args: [1, 2], target };
    const answer = await ask(socket, "FUNCTION_CALL", data);
    assert.equal(answer.success, false, `${target}`);
    assert.match(answer.error.message, /\S/);
  }
});

test("S-10, S-12, S-13, S-14: one answer of one shape, whatever comes", async () => {
  const odd = [null, undefined, 7, "text", [], {}, { functionName: 5, target: "server" }];
  for (const data of odd) {
    const answer = await ask(socket, "FUNCTION_CALL", ...(data === undefined ? [] : [data]));
    assert.equal(answer.success, false);
    assert.equal("result" in answer, false);
    assert.match(answer.error.message, /\S/);
  }
  const fine = await call(socket, "echo", []);
  assert.equal(fine.success, true);
  assert.equal("error" in fine, false);
  const before = (await call(socket, "note", ["counted"])).result;
  socket.emit("FUNCTION_CALL", { requestId: "q", functionName: "note", args: ["quiet"], target: "server" });
  assert.equal((await call(socket, "note", ["counted"])).result, before + 1, "it did not run");
});

test("S-15: a function that fails says so, and the next call works", async () => {
  const answer = await call(socket, "fail", ["no such luck"]);
  assert.equal(answer.success, false);
  assert.match(answer.error.message, /no such luck/);
  assert.equal((await call(socket, "add", [1, 2])).result, 3);
});

test("S-16: names of the language, hidden functions and unexposed methods are not found", async () => {
  const names = ["__proto__", "constructor", "toString", "_hidden", "time", "data_get", ""];
  for (const name of names) {
    const answer = await call(socket, name, ["x"]);
    assert.equal(answer.success, false, name);
    assert.equal(answer.error.message, `Function "${name}" not found.`);
  }
});

test("S-01, S-17, S-18: a function added or replaced is there without a restart, and logged", async () => {
  const shouts = async (expected) => (await call(socket, "shout", ["hey"])).result === expected;
  await scene.write("functions/more.py", "def shout(text: str) -> str:\n    return text.upper()\n");
  await until(() => shouts("HEY"));
  await scene.write("functions/still_more.py", "def shout(text: str) -> str:\n    return text + '!'\n");
  await until(() => shouts("hey!"));
  for (const name of ["add", "echo", "shout"]) {
    assert.match(scene.log, new RegExp(`INFO .*registered.*/${name}\\b`));
  }
  assert.match(scene.log, /WARN .*'shout' replaces the one of more.py/);
});

test("S-20: what is callable is listed at once", async () => {
  const methods = await scene.callgate("methods");
  for (const name of ["addStaticResources", "readJsonFromFile", "saveJsonToFile", "add"]) {
    assert.ok(methods.some((method) => method.name === name), name);
  }
});

test("S-21, S-22, S-23, S-24: static resources", async () => {
  await scene.write(`${scene.root}/web/a.html`, "<p>hello</p>");
  await scene.write(`${scene.root}/one.txt`, "one");
  const named = { "/shown": "web", "/one.txt": "./one.txt", "/out": "../../etc", "/gone": "nope" };
  for (const args of [[named], named]) {
    const { success, results } = (await call(socket, "addStaticResources", args)).result;
    assert.equal(typeof success, "boolean");
    const status = Object.fromEntries(results.map((result) => [result.urlPath, result.status]));
    assert.deepEqual(status, {
      "/shown": "success",
      "/one.txt": "success",
      "/out": "error",
      "/gone": "error",
    });
    assert.ok(results.every((result) => result.status === "success" || result.message));
  }
  const page = await fetch(`${scene.url}/shown/a.html`);
  assert.equal(await page.text(), "<p>hello</p>");
  assert.match(page.headers.get("content-security-policy"), /sandbox/);
  assert.equal(await (await fetch(`${scene.url}/one.txt`)).text(), "one");
  assert.equal((await fetch(`${scene.url}/shown/../../callgate.toml`)).status, 404);
});

test("S-25, S-26, S-27, S-33: files by every spelling", async () => {
  await scene.write(`${scene.root}/settings/x.json`, { x: 1 });
  const absolute = join(scene.data, scene.root, "settings/x.json");
  const spellings = ["./settings/x.json", "settings/x.json", "/settings/x.json", absolute];
  for (const path of [...spellings, "settings//./a/../x.json"]) {
    const answer = await call(socket, "readJsonFromFile", [path]);
    assert.deepEqual(answer.result, { success: true, result: { x: 1 } }, path);
  }
  await scene.write(`${scene.root}/bad.json`, "{ not json");
  for (const path of ["missing.json", "bad.json"]) {
    const answer = await call(socket, "readJsonFromFile", [path]);
    assert.equal(answer.success, true);
    assert.equal(answer.result.success, false);
    assert.match(answer.result.error.message, /\S/);
    assert.match(answer.result.error.code, /\S/);
    assert.equal(JSON.stringify(answer).includes(scene.home), false, "no path of ours in it");
  }
});

test("S-28, S-30, S-31: saving merges, shallowly, into objects only", async () => {
  const path = "made/up/s.json";
  const save = async (data) => (await call(socket, "saveJsonToFile", [path, data])).result;
  assert.deepEqual(await save({ a: 1, b: { x: 1 } }), { success: true });
  assert.deepEqual(await save({ b: { y: 2 } }), { success: true });
  assert.deepEqual(await scene.read(`${scene.root}/${path}`), { a: 1, b: { y: 2 } });
  for (const data of [[1], "text", 7, null]) {
    const refused = await save(data);
    assert.equal(refused.success, false);
    assert.equal(typeof refused.error, "string");
  }
  await scene.write(`${scene.root}/list.json`, [1, 2]);
  const refused = (await call(socket, "saveJsonToFile", ["list.json", { a: 1 }])).result;
  assert.equal(refused.success, false);
  assert.deepEqual(await scene.read(`${scene.root}/list.json`), [1, 2]);
});

test("S-29: 50 saves at once of 50 keys keep 50", async () => {
  const numbers = Array.from({ length: 50 }, (_, number) => number);
  const saved = numbers.map((number) =>
    call(socket, "saveJsonToFile", ["many.json", { [`key${number}`]: number }]),
  );
  for (const answer of await Promise.all(saved)) assert.deepEqual(answer.result, { success: true });
  assert.equal(Object.keys(await scene.read(`${scene.root}/many.json`)).length, 50);
});

test("S-29: a server that is killed while it saves leaves a whole file with all it acknowledged", async () => {
  await call(socket, "saveJsonToFile", ["killed.json", { before: 1 }]);
  const acknowledged = [];
  const some = new Promise((resolve) => {
    for (let number = 0; number < 50; number++) {
      const name = `key${number}`;
      const data = { requestId: name, functionName: "saveJsonToFile", target: "server" };
      socket.emit("FUNCTION_CALL", { ...data, args: ["killed.json", { [name]: number }] }, (answer) => {
        if (answer.result?.success) acknowledged.push(name);
        if (acknowledged.length === 10) resolve();
      });
    }
  });
  await some;
  await scene.restart();
  const saved = await scene.read(`${scene.root}/killed.json`);
  assert.equal(saved.before, 1);
  for (const name of acknowledged) assert.ok(name in saved, name);
  socket = await scene.connect("/function_call", auth);
});

test("S-35: restricted files, by any spelling and for everything", async () => {
  await scene.write(`${scene.root}/settings/secret.json`, { secret: 1 });
  await scene.write(`${scene.root}/private/x.json`, { secret: 1 });
  for (const path of ["settings/secret.json", "./settings//secret.json", "/settings/a/../secret.json", "private/x.json"]) {
    const read = (await call(socket, "readJsonFromFile", [path])).result;
    assert.equal(read.success, false, path);
    const saved = (await call(socket, "saveJsonToFile", [path, { a: 1 }])).result;
    assert.equal(saved.success, false, path);
    const { results } = (await call(socket, "addStaticResources", [{ "/secret": path }])).result;
    assert.equal(results[0].status, "error", path);
  }
});

test("S-34, S-36, S-37: nothing outside the root is read or written", async () => {
  const outside = join(scene.home, "remote2/x.json");
  await mkdir(join(scene.home, "remote2"), { recursive: true });
  await writeFile(outside, '{"mine":1}');
  await symlink(scene.home, join(scene.data, scene.root, "link"));
  const refused = ["../callgate.toml", "a/../../x.json", "link/remote2/x.json", "nul\0.json", "", "..", ".", 7, null, ["x"]];
  for (const path of refused) {
    const read = (await call(socket, "readJsonFromFile", [path])).result;
    assert.equal(read?.success ?? false, false, `${path}`);
    const saved = (await call(socket, "saveJsonToFile", [path, { a: 1 }])).result;
    assert.equal(saved?.success ?? false, false, `${path}`);
  }
  // Whole paths that do not lead into the root mean files beneath it, as '/settings/x.json' does.
  for (const path of [outside, join(scene.data, "callgate.toml"), join(scene.data, "callgate.db"), "/etc/passwd"]) {
    const before = await readFile(path);
    const read = (await call(socket, "readJsonFromFile", [path])).result;
    assert.equal(read.success, false, path);
    await call(socket, "saveJsonToFile", [path, { a: 1 }]);
    if (!path.endsWith(".db")) assert.deepEqual(await readFile(path), before, path);
  }
});

/** Asks again until it holds. */
async function until(holds) {
  const end = Date.now() + 20_000;
  while (!(await holds())) {
    assert.ok(Date.now() < end, "it never came true");
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
