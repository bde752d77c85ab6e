// A server of models that writes down what it is asked and answers one word, on OpenAI's two wires.
import { once } from "node:events";
import { createServer } from "node:http";
import { after } from "node:test";

const chunk = (delta, finish_reason = null) => ({
  object: "chat.completion.chunk",
  choices: [{ index: 0, delta, finish_reason }],
});
const CHAT = [chunk({ role: "assistant", content: "fine" }), chunk({}, "stop")];
const ITEM = {
  id: "msg_1",
  type: "message",
  role: "assistant",
  status: "completed",
  content: [{ type: "output_text", text: "fine", annotations: [] }],
};
const RESPONSE = [
  { type: "response.output_text.delta", item_id: "msg_1", output_index: 0, content_index: 0, delta: "fine" },
  { type: "response.output_item.done", output_index: 0, item: ITEM },
  { type: "response.completed", response: { id: "r", status: "completed", output: [ITEM] } },
];

/** Where it listens, and the bodies of what it was asked. */
export async function wire() {
  const asked = [];
  const server = createServer(async (request, response) => {
    // Which models it has, is asked when a server starts.
    if (request.method === "GET") return void response.writeHead(404).end();
    let body = "";
    for await (const piece of request) body += piece;
    asked.push(JSON.parse(body));
    const chats = request.url.endsWith("/chat/completions");
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (const told of chats ? CHAT : RESPONSE) response.write(`data: ${JSON.stringify(told)}\n\n`);
    response.end(chats ? "data: [DONE]\n\n" : "");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  after(() => server.close());
  return { url: `http://127.0.0.1:${server.address().port}`, asked };
}
