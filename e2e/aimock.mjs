// A fake server of several providers, made by others, for the tests of our wires: it answers by the file named, else
// by aimock.json. Prints its address as soon as it listens and ends with its standard input, however the test that
// started it ends.
import { LLMock } from "@copilotkit/aimock";

const server = new LLMock({ host: "127.0.0.1", port: 0, strict: true });
const fixtures = process.argv[2] ?? new URL("./aimock.json", import.meta.url).pathname;
server.loadFixtureFile(fixtures);
await server.start();
console.log(server.url);
process.stdin.resume();
// At once: an idle connection of the client would keep a graceful stop waiting.
process.stdin.on("end", () => process.exit(0));
