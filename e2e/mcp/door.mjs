// Between the suite, which has no key and knows addresses of its own, and the server: it adds the
// key, and calls our resources by the names that the suite expects. Everything else goes through as
// it is, stream by stream.
import { createServer, request as ask } from "node:http";

/** `names`: what the suite says, and what we call it. */
export async function door(url, key, names) {
  const target = new URL(url);
  const inward = (text) => names.reduce((text, [theirs, ours]) => text.replaceAll(theirs, ours), text);
  const outward = (text) => names.reduce((text, [theirs, ours]) => text.replaceAll(ours, theirs), text);
  const server = createServer(async (request, response) => {
    const pieces = [];
    for await (const piece of request) pieces.push(piece);
    const body = inward(Buffer.concat(pieces).toString());
    const headers = { ...request.headers, authorization: `Bearer ${key}` };
    if (headers["mcp-name"]) headers["mcp-name"] = inward(headers["mcp-name"]);
    delete headers["content-length"];
    delete headers["transfer-encoding"];
    if (body) headers["content-length"] = Buffer.byteLength(body);
    const { method, url: path } = request;
    const passed = ask({ host: target.hostname, port: target.port, method, path, headers });
    passed.on("response", (answer) => {
      const { "content-length": _, ...kept } = answer.headers;
      response.writeHead(answer.statusCode, kept);
      response.flushHeaders();
      // A message is one line of a stream, and is written by the server in one piece.
      answer.setEncoding("utf8");
      answer.on("data", (text) => response.write(outward(text)));
      answer.on("end", () => response.end());
      answer.on("error", () => response.destroy());
    });
    passed.on("error", () => response.destroy());
    response.on("close", () => passed.destroy());
    passed.end(body);
  });
  server.listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  return server;
}
