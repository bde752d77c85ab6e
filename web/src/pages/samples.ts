// A call of a method in the languages of its callers.
import type { Method } from "../api/client";

export function python(value: unknown): string {
  if (value === null) return "None";
  if (value === true) return "True";
  if (value === false) return "False";
  if (Array.isArray(value)) return `[${value.map(python).join(", ")}]`;
  if (typeof value === "object") {
    return `{${Object.entries(value as object).map(([key, each]) => `${JSON.stringify(key)}: ${python(each)}`).join(", ")}}`;
  }
  return JSON.stringify(value);
}

export function samples(method: Method, given: Record<string, unknown>): { name: string; text: string }[] {
  const named = Object.entries(given).map(([name, value]) => `${name}=${python(value)}`);
  const body = JSON.stringify({ arguments: given });
  const request = { requestId: "1", functionName: method.name, args: Object.values(given), target: "server" };
  return [
    { name: "Python", text: `${method.name}(${named.join(", ")})` },
    {
      name: "curl",
      text: `curl ${location.origin}/api/methods/${method.name}/call -H "Authorization: Bearer $CALLGATE_KEY" -H "Content-Type: application/json" -d '${body.replaceAll("'", "'\\''")}'`,
    },
    {
      name: "Socket.IO",
      text: `io("${location.origin}/function_call", { auth: { clientId: "me", key } }).emit("FUNCTION_CALL", ${JSON.stringify(request)}, console.log);`,
    },
    {
      name: "MCP",
      text: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: method.name, arguments: given } }),
    },
  ];
}
