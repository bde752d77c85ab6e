// Our server against the scenarios for servers, as each version of the protocol has them.
import { join } from "node:path";
import { BINARY, HERE, Scene, suite } from "./scene.mjs";
import { door } from "./door.mjs";

/** Files of the operator's session, written as any code writes them. */
const FILES = `
import base64, pathlib
shared = pathlib.Path("/app/shared")
(shared / "static-text").write_text("This is the content of the static text resource.")
(shared / "static-binary").write_bytes(base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8/5+hHgAHggJ/PchI7wAAAABJRU5ErkJggg=="))
(shared / "template" / "123").mkdir(parents=True)
(shared / "template" / "123" / "data").write_text('{"id": "123"}')
`;

/** The id by which resources name the operator's session. */
async function folder(scene) {
  const answer = await scene.ask("resources/list");
  return /callgate:\/\/sessions\/[0-9a-f-]+\/shared\//.exec(await answer.text())[0];
}

const behind = (data) => `
[[mcp]]
name = "behind"
command = "${process.execPath}"
args = ["${join(HERE, "behind.mjs")}"]
env = { CALLGATE = "${BINARY}", DATA = "${data}" }
remote = true
`;
const scene = await Scene.open(behind);
let entrance;
try {
  await scene.serve(join(HERE, "fixtures"));
  const persona = (name, prompt) => scene.callgate("persona", "set", name, "--prompt", prompt);
  await persona("test_simple_prompt", "This is a simple prompt for testing.");
  await persona("test_prompt_with_arguments", "With arguments: arg1='{{arg1}}', arg2='{{arg2}}'");
  await scene.run(FILES);
  while ((await scene.callgate("mcp", "list"))[0].state !== "connected") continue;
  entrance = await door(scene.url, scene.key, [["test://", await folder(scene)]]);
  const url = `http://127.0.0.1:${entrance.address().port}/mcp`;
  for (const version of ["2025-11-25", "2026-07-28"]) {
    const words = ["server", "--url", url, "--suite", "all", "--spec-version", version];
    console.log(await suite(...words));
  }
} finally {
  entrance?.closeAllConnections();
  entrance?.close();
  await scene.close();
}
