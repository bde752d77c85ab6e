// What a request says beyond its messages, as it reaches the model: on the wire, by OpenAI's own client.
import assert from "node:assert/strict";
import { test } from "node:test";
import OpenAI from "openai";
import { all, openOver } from "./scene.mjs";
import { wire } from "./wire.mjs";

const { url, asked } = await wire();
const models = {
  chats: { base_url: `${url}/v1` },
  responds: { base_url: `${url}/v1`, wire: "responses" },
};
const { key, base } = await openOver(models, "chat", "models");
const client = new OpenAI({ apiKey: key, baseURL: base, maxRetries: 0 });

const parameters = { type: "object", properties: {}, additionalProperties: false };
const schema = { name: "x", strict: true, schema: parameters };
const tools = [{ type: "function", function: { name: "mine", parameters } }];
const choice = { type: "function", function: { name: "mine" } };

async function chat(more) {
  const messages = [{ role: "user", content: "hi" }];
  const answer = await client.chat.completions.create({ model: "model/chats", messages, ...more });
  assert.equal(answer.choices[0].message.content, "fine");
  return [asked.at(-1), answer];
}

test("what the wire has reaches the model", async () => {
  const [body] = await chat({
    temperature: 0.5,
    top_p: 0.9,
    presence_penalty: 0.1,
    frequency_penalty: 0.2,
    max_completion_tokens: 9,
    stop: ["end"],
    seed: 4,
    reasoning_effort: "low",
    response_format: { type: "json_schema", json_schema: schema },
    tools,
    tool_choice: choice,
    parallel_tool_calls: false,
  });
  assert.equal(body.temperature, 0.5);
  assert.equal(body.top_p, 0.9);
  assert.equal(body.presence_penalty, 0.1);
  assert.equal(body.frequency_penalty, 0.2);
  assert.equal(body.max_tokens, 9);
  assert.deepEqual(body.stop, ["end"]);
  assert.equal(body.seed, 4);
  assert.equal(body.reasoning_effort, "low");
  assert.deepEqual(body.response_format, { type: "json_schema", json_schema: schema });
  assert.deepEqual(body.tool_choice, choice);
  assert.equal(body.parallel_tool_calls, false);
  const [object] = await chat({ response_format: { type: "json_object" } });
  assert.deepEqual(object.response_format, { type: "json_object" });
});

test("the other wire says the same in other words", async () => {
  const response = await client.responses.create({
    model: "model/responds",
    input: "hi",
    max_output_tokens: 9,
    reasoning: { effort: "high" },
    text: { format: { type: "json_schema", ...schema } },
    tools: [{ type: "function", name: "mine", parameters, strict: false }],
    tool_choice: { type: "function", name: "mine" },
    parallel_tool_calls: false,
  });
  assert.equal(response.output_text, "fine");
  const body = asked.at(-1);
  assert.equal(body.max_output_tokens, 9);
  assert.deepEqual(body.reasoning, { effort: "high" });
  assert.deepEqual(body.text, { format: { type: "json_schema", ...schema } });
  assert.deepEqual(body.tool_choice, { type: "function", name: "mine" });
  assert.equal(body.parallel_tool_calls, false);
  // A chat over a model of that wire, and the other way round.
  const messages = [{ role: "user", content: "hi" }];
  await client.chat.completions.create({ model: "model/responds", messages, reasoning_effort: "low" });
  assert.deepEqual(asked.at(-1).reasoning, { effort: "low" });
  await client.responses.create({ model: "model/chats", input: "hi", reasoning: { effort: "low" } });
  assert.equal(asked.at(-1).reasoning_effort, "low");
});

test("what is not for the model stays here", async () => {
  const [body, answer] = await chat({
    n: 1,
    logprobs: true,
    top_logprobs: 3,
    logit_bias: { 1: 2 },
    user: "ann",
    metadata: { a: "b" },
    store: true,
    service_tier: "auto",
    parallel_tool_calls: false,
  });
  const known = ["model", "messages", "stream", "stream_options"];
  assert.deepEqual(Object.keys(body).sort(), known.sort());
  assert.equal(answer.choices[0].logprobs, null);
  await assert.rejects(chat({ n: 2 }), (error) => error.status === 400 && error.param === "n");
});

test("usage is told at the end of a stream where it is wanted", async () => {
  const messages = [{ role: "user", content: "hi" }];
  for (const include_usage of [true, false]) {
    const options = { model: "model/chats", messages, stream: true, stream_options: { include_usage } };
    const chunks = await all(await client.chat.completions.create(options));
    assert.equal("usage" in chunks.at(-1), include_usage);
    assert.equal(chunks.at(-1).choices.length, include_usage ? 0 : 1);
  }
});
