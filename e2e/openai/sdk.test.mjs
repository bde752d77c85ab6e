// OpenAI's own client for JavaScript.
import assert from "node:assert/strict";
import { test } from "node:test";
import OpenAI from "openai";
import { all, open, PICTURE } from "./scene.mjs";

const { scene, key, id, base } = await open("chat", "models");
const client = new OpenAI({ apiKey: key, baseURL: base, maxRetries: 0 });
const HELLO = "Hello from 世界, to 🌍 and back.";
const WEATHER = {
  type: "object",
  properties: { city: { type: "string" } },
  required: ["city"],
};
const results = (city) => (city === "Oslo" ? "rain in Oslo" : "sun in Beijing");
const user = (content) => [{ role: "user", content }];

async function chat(content, more = {}) {
  const answer = await client.chat.completions.create({
    model: "bare",
    messages: user(content),
    ...more,
  });
  return answer.choices[0];
}

async function refused(asked, Kind, code) {
  await assert.rejects(asked, (error) => {
    assert.ok(error instanceof Kind, `${error}`);
    assert.equal(error.code, code);
    return true;
  });
}

test("models are listed", async () => {
  const names = [];
  for await (const model of client.models.list()) names.push(model.id);
  assert.deepEqual(names, ["default", "bare", "model/fake"]);
  assert.equal((await client.models.retrieve("model/fake")).object, "model");
});

test("a chat is answered whole", async () => {
  for (const model of ["default", "bare", "model/fake"]) {
    const answer = await client.chat.completions.create({ model, messages: user("Say hello") });
    assert.equal(answer.choices[0].message.content, HELLO);
    assert.equal(answer.choices[0].finish_reason, "stop");
    assert.equal(answer.model, model);
    assert.ok(answer.usage.total_tokens > 0);
  }
  const thinking = await chat("Think first");
  assert.equal(thinking.message.reasoning_content, "Six times seven.");
});

test("a chat is answered in chunks", async () => {
  const stream = client.chat.completions.stream({
    model: "bare",
    messages: user("Say hello"),
    stream_options: { include_usage: true },
  });
  const pieces = [];
  stream.on("content", (delta) => pieces.push(delta));
  const answer = await stream.finalChatCompletion();
  assert.ok(pieces.length > 5, `${pieces.length} pieces`);
  assert.equal(answer.choices[0].message.content, HELLO);
  assert.ok(answer.usage.completion_tokens > 0);
});

test("tools of the client's are called side by side and go on", async () => {
  const asked = [];
  const runner = client.chat.completions.runTools({
    model: "default",
    stream: true,
    messages: user("What is the weather in both?"),
    tools: [
      {
        type: "function",
        function: {
          name: "weather",
          parameters: WEATHER,
          parse: JSON.parse,
          function: ({ city }) => (asked.push(city), results(city)),
        },
      },
    ],
  });
  assert.equal(await runner.finalContent(), "Sun there, rain here.");
  assert.deepEqual(asked, ["Beijing", "Oslo"]);
});

test("methods of ours run on our side", async () => {
  const choice = await chat("What time is it?");
  assert.equal(choice.message.content, "It is late.");
  assert.equal(choice.message.tool_calls, undefined);
  const operator = await scene.key("--scope", "operator");
  const headers = { authorization: `Bearer ${operator}` };
  const read = async (path) => (await fetch(scene.url + path, { headers })).json();
  const session = `api:FriendMessage:${id}`;
  const { items } = await read(`/api/turns?session=${encodeURIComponent(session)}`);
  const turns = await Promise.all(items.map((turn) => read(`/api/turns/${turn.id}`)));
  assert.ok(turns.some((turn) => turn.calls.some((call) => call.method.endsWith("now"))));
});

test("code runs in the sandbox, and only what it says is heard", async () => {
  const asked = { model: "default", messages: user("Reckon six times seven") };
  const whole = await client.chat.completions.create(asked);
  assert.equal(whole.choices[0].message.content, "It is 42.");
  const chunks = await all(await client.chat.completions.create({ ...asked, stream: true }));
  const text = chunks.map((chunk) => chunk.choices[0].delta.content ?? "").join("");
  assert.equal(text, "It is 42.");
  const response = await client.responses.create({ model: "default", input: "Reckon six times seven" });
  assert.equal(response.output_text, "It is 42.");
  assert.equal((await client.responses.retrieve(response.id)).output_text, "It is 42.");
});

test("pictures are seen", async () => {
  const content = [
    { type: "text", text: "What is in the picture?" },
    { type: "image_url", image_url: { url: PICTURE } },
  ];
  assert.equal((await chat(content)).message.content, "A dot.");
});

test("refusals are errors of the client's own", async () => {
  const { RateLimitError, NotFoundError, InternalServerError } = OpenAI;
  await refused(chat("Be busy"), RateLimitError, "rate_limit_exceeded");
  await refused(chat("Break down"), InternalServerError, null);
  await refused(chat("x", { model: "nobody" }), NotFoundError, "model_not_found");
  await refused(chat("x", { temperature: "hot" }), OpenAI.BadRequestError, null);
  const guest = new OpenAI({ apiKey: "callgate_wrong", baseURL: base, maxRetries: 0 });
  await refused(guest.models.list(), OpenAI.AuthenticationError, "invalid_api_key");
  const methods = new OpenAI({ apiKey: await scene.key(), baseURL: base, maxRetries: 0 });
  await refused(methods.models.list(), OpenAI.PermissionDeniedError, "insufficient_permissions");
});

test("a response is given whole and gone on from", async () => {
  const first = await client.responses.create({ model: "bare", input: "I am Ann" });
  assert.equal(first.output_text, "Hello Ann.");
  const second = await client.responses.create({
    model: "bare",
    input: "Who am I?",
    previous_response_id: first.id,
  });
  assert.equal(second.output_text, "You are Ann.");
  assert.equal(second.previous_response_id, first.id);
  const lost = client.responses.create({
    model: "bare",
    input: "x",
    previous_response_id: "resp_nothing",
  });
  await refused(lost, OpenAI.NotFoundError, "previous_response_not_found");
});

test("a stored response is looked at again, and deleted", async () => {
  const first = await client.responses.create({ model: "default", input: "I am Ann" });
  const { id } = await client.responses.create({
    model: "default",
    input: "Who am I?",
    previous_response_id: first.id,
  });
  const found = await client.responses.retrieve(id);
  assert.equal(found.output_text, "You are Ann.");
  assert.equal(found.previous_response_id, first.id);
  assert.equal(found.status, "completed");
  const items = await all(client.responses.inputItems.list(id, { limit: 2, order: "asc" }));
  const texts = items.map((item) => item.content[0].text);
  assert.deepEqual(texts, ["I am Ann", "Hello Ann.", "Who am I?"]);
  const told = await all(await client.responses.retrieve(id, { stream: true }));
  assert.equal(told[0].type, "response.created");
  assert.equal(told.at(-1).response.output[0].content[0].text, "You are Ann.");
  await client.responses.delete(id);
  await refused(client.responses.retrieve(id), OpenAI.NotFoundError, null);
  const kept = await client.responses.create({ model: "default", input: "I am Ann", store: false });
  await refused(client.responses.retrieve(kept.id), OpenAI.NotFoundError, null);
});

test("a response comes as events, with calls", async () => {
  const tools = [{ type: "function", name: "weather", parameters: WEATHER, strict: false }];
  const stream = client.responses.stream({
    model: "bare",
    input: "What is the weather in both?",
    tools,
  });
  const kinds = new Set();
  for await (const event of stream) kinds.add(event.type);
  const response = await stream.finalResponse();
  for (const kind of [
    "response.created",
    "response.output_item.added",
    "response.function_call_arguments.delta",
    "response.function_call_arguments.done",
    "response.completed",
  ]) {
    assert.ok(kinds.has(kind), kind);
  }
  const calls = response.output.filter((item) => item.type === "function_call");
  assert.equal(calls.length, 2);
  const output = (call) => ({
    type: "function_call_output",
    call_id: call.call_id,
    output: results(JSON.parse(call.arguments).city),
  });
  const words = client.responses.stream({
    model: "bare",
    input: calls.map(output),
    previous_response_id: response.id,
    tools,
  });
  let text = "";
  words.on("response.output_text.delta", ({ delta }) => (text += delta));
  const { output: [said] } = await words.finalResponse();
  assert.equal(said.content[0].text, "Sun there, rain here.");
  assert.equal(text, "Sun there, rain here.");
});

test("texts become vectors", async () => {
  const made = await client.embeddings.create({ model: "model/fake", input: "a cat" });
  assert.deepEqual(made.data[0].embedding, [0.5, -0.25, 1]);
});
