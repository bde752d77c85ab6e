// A model on loopback that speaks OpenAI's chat completions: what it answers follows from a word of
// the newest message. It streams, so that a page can be watched while it does.
import http from "node:http";
import { setTimeout as pause } from "node:timers/promises";

const PICTURE = `import struct, zlib
def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
rows = b"".join(b"\\0" + bytes([40, 90, 220] * x + [230, 235, 245] * (100 - x)) for x in (n * n for n in range(1, 11)) for _ in range(8))
png = b"\\x89PNG\\r\\n\\x1a\\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 100, 80, 8, 2, 0, 0, 0)) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
open("/app/shared/squares.png", "wb").write(png)
send_file("/app/shared/squares.png")`;

const SOUND = `import wave
with wave.open("/app/shared/tone.wav", "wb") as tone:
    tone.setparams((1, 2, 8000, 0, "NONE", ""))
    tone.writeframes(b"\\0\\0" * 4000)
send_file("/app/shared/tone.wav")`;

const HOSTILE = `<img src=x onerror="window.harmed=1"> <script>window.harmed=1</script>
[a link](javascript:window.harmed=1) ![x](http://192.0.2.1/track.png)

| one | two |
| --- | --- |
| <b>bold</b> | \`code\` |`;

const RECIPE = `1. **Chop** the onion
   into **small \`cubes\`**
   - red
   - white
2. Fry it
---
\`\`\`sh title=oven
echo "180 # degrees"
\`\`\``;

const fenced = (code) => `Let me see.\n\`\`\`python\n${code}\n\`\`\``;

/** Whole answers by a word of what was asked. */
const ANSWERS = [
  ["cube", (asked) => fenced(`sizes = [1, 2, 3]\nprint("volumes")\n${asked.includes("NameError") ? "cubes = [n ** 3 for n in sizes]" : "cubes = [n ** 3 for n in size]"}\nsend_message(f"The cubes are {cubes}")`)],
  ["clock", () => fenced('moment = now("Asia/Tokyo")\nprint(moment.isoformat())\nsend_message("It is the hour " + moment.strftime("%H"))')],
  ["picture", () => fenced(PICTURE)],
  ["sound", () => fenced(SOUND)],
  ["remind", () => fenced('send_message(set_timer("Water the fern.", minutes=60))')],
  ["keep", () => fenced('remember("colour", "blue")\nsend_message("Kept.")')],
  ["essay", () => fenced('remember("text", "\\n".join(f"line {n} of it" for n in range(120)))\nsend_message("Kept.")')],
  ["helper", () => fenced('send_message(ask_helper("What is six times seven?"))')],
  ["bread", () => fenced("send_message(bake())")],
  ["six times seven", () => "Forty-two."],
  ["hostile", () => HOSTILE],
  ["recipe", () => RECIPE],
  ["long", () => "long words ".repeat(100_000)],
  ["slow", () => Array.from({ length: 200 }, (_, number) => `word${number}`).join(" ")],
];
const REFUSAL = '{"error": {"message": "Incorrect API key provided"}}';
const PLAIN = () => "A **plain** answer.";

function answerOf(said) {
  return ANSWERS.find(([word]) => said.includes(word))?.[1] ?? PLAIN;
}

export class FakeModel {
  /** Takes no key. */
  refuses = false;
  /** Every request, as it was sent. */
  requests = [];
  #server = http.createServer((request, response) => void this.#answer(request, response));

  static async open() {
    const model = new FakeModel();
    await new Promise((done) => model.#server.listen(0, "127.0.0.1", done));
    return model;
  }

  get url() {
    return `http://127.0.0.1:${this.#server.address().port}/v1`;
  }

  close() {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  async #answer(request, response) {
    // What it has is of no interest: it is asked whether it takes the key.
    if (request.method === "GET") return void response.writeHead(this.refuses ? 401 : 200, { "content-type": "application/json" }).end(this.refuses ? REFUSAL : '{"data": []}');
    let body = "";
    for await (const piece of request) body += piece;
    const asked = JSON.parse(body);
    this.requests.push(asked);
    if (this.refuses) return void response.writeHead(401, { "content-type": "application/json" }).end(REFUSAL);
    const newest = textOf(asked.messages.findLast((message) => message.role === "user")?.content);
    // Of a chat that is shown in full, what was said last.
    const said = newest.split("# This moment")[0].split("\n[#").at(-1);
    const make = answerOf(said);
    response.writeHead(200, { "content-type": "text/event-stream" });
    const send = (choice, more = {}) => response.write(`data: ${JSON.stringify({ id: "1", object: "chat.completion.chunk", choices: choice ? [{ index: 0, ...choice }] : [], ...more })}\n\n`);
    send({ delta: { role: "assistant", reasoning_content: "What is asked is plain." } });
    const whole = make(said);
    const slow = /slow/.test(said);
    for (const piece of slow ? whole.split(/(?<= )/) : (whole.match(/[\s\S]{1,2000}/g) ?? [])) {
      if (response.destroyed) return;
      send({ delta: { content: piece } });
      if (slow) await pause(25);
    }
    send({ delta: {}, finish_reason: "stop" });
    send(null, { usage: { prompt_tokens: 120, completion_tokens: 34, total_tokens: 154 } });
    response.end("data: [DONE]\n\n");
  }
}

function textOf(content) {
  if (typeof content === "string") return content;
  return (content ?? []).map((part) => part.text ?? "").join("\n");
}
