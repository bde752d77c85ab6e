// A call that waits for an administrator is said to the client in whose chat it waits, and goes on when it is answered.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Scene, ask, next } from "./scene.mjs";

const scene = await Scene.open({
  files: {
    "callgate.toml": '[models]\ndefault = "script:data/answers.jsonl"\n[approval]\nask = ["send_message"]\nwait_seconds = 0\n',
    "answers.jsonl": JSON.stringify({ content: "```python\nsend_message('hello')\n```" }),
  },
});

test("what waits is said, with how to answer it; what was allowed follows", async () => {
  const operator = await scene.key("--scope", "operator");
  const admin = await scene.connect("/clients", { clientType: "monitor", clientId: "boss", key: operator });
  const { key } = await ask(admin, "GENERATE_CLIENT_KEY", { targetClientId: "ada" });
  const ada = await scene.connect("/llm", { clientType: "web-app", clientId: "ada", key });
  const question = next(ada, "message");
  await ask(ada, "LLM_REQUEST", { target: "server", requestId: "one", message: "say hello" });
  const [{ data }] = await question;
  assert.match(data, /send_message.*hello.*waits for an administrator.*\/approve 1 or \/deny 1/);
  const answer = next(ada, "message");
  await scene.callgate("approval", "allow", "1");
  assert.equal((await answer)[0].data, "hello");
});
