// The least that a server of function calls can be: npm's socket.io and a table of functions. Prints
// its address as soon as it listens and ends with its standard input.
import { createServer } from "node:http";
import { Server } from "socket.io";

const functions = new Map([["add", (a, b) => a + b]]);
const http = createServer();
const io = new Server(http, { serveClient: false });

io.of("/function_call").on("connection", (socket) => {
  socket.on("FUNCTION_CALL", ({ requestId, functionName, args }, reply) => {
    const result = functions.get(functionName)(...args);
    reply({ requestId, success: true, result });
  });
});

http.listen(0, "127.0.0.1", () => {
  console.log(JSON.stringify({ address: `127.0.0.1:${http.address().port}`, key: "" }));
});
process.stdin.resume();
process.stdin.on("end", () => process.exit(0));
