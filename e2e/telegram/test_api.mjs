// telegram-test-api, unmodified: its server, and its client as the person. Arguments: port, token. Each line of input is
// said; each message of the bot is a line of output.
import { createInterface } from "node:readline";
import TelegramServer from "telegram-test-api";

const [port, token] = process.argv.slice(2);
const Server = TelegramServer.default ?? TelegramServer;
const server = new Server({ port: Number(port), host: "127.0.0.1" });
await server.start();
const client = server.getClient(token, { timeout: 60_000 });
console.log(JSON.stringify({ ready: server.config.apiURL }));
for await (const words of createInterface({ input: process.stdin })) {
  await client.sendMessage(client.makeMessage(words));
  const { result } = await client.getUpdates();
  for (const update of result) console.log(JSON.stringify({ text: update.message.text }));
}
await server.stop();
