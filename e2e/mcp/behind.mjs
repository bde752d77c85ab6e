// A server of others behind ours: what it offers comes through our client, our gate and our server.
// It has tools whose descriptions a plugin cannot write, one that changes its own list, and one that
// changes the list of personas as an operator would.
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { CallToolRequestSchema, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js";

const nothing = { type: "object", properties: {} };
const tools = [
  {
    name: "json_schema_2020_12_tool",
    description: "Every word of the dialect",
    inputSchema: {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      type: "object",
      $defs: { address: { $anchor: "place", type: "object", properties: { city: { type: "string" } } } },
      properties: { name: { type: "string" }, home: { $ref: "#/$defs/address" } },
      allOf: [{ anyOf: [{ required: ["name"] }, { required: ["home"] }] }],
      if: { required: ["name"] },
      then: { properties: { name: { minLength: 1 } } },
      else: { required: ["home"] },
      additionalProperties: false,
    },
  },
  {
    name: "test_custom_header",
    description: "One argument goes along in a header",
    inputSchema: {
      type: "object",
      properties: { value: { type: "string", "x-mcp-header": "Value" } },
      required: ["value"],
    },
  },
  { name: "test_trigger_tool_change", description: "One more tool each time", inputSchema: nothing },
  { name: "test_trigger_prompt_change", description: "One more persona", inputSchema: nothing },
];

const server = new Server(
  { name: "behind", version: "1" },
  { capabilities: { tools: { listChanged: true } } },
);
server.setRequestHandler(ListToolsRequestSchema, () => ({ tools }));
server.setRequestHandler(CallToolRequestSchema, async ({ params }) => {
  if (params.name === "test_trigger_tool_change") {
    const name = `grown_${tools.length}`;
    tools.push({ name, description: "Came later", inputSchema: nothing });
    await server.sendToolListChanged();
  }
  if (params.name === "test_trigger_prompt_change") {
    const words = ["persona", "set", "grown", "--prompt", `${tools.length}`];
    await promisify(execFile)(process.env.CALLGATE, [...words, "--data", process.env.DATA]);
  }
  return { content: [{ type: "text", text: JSON.stringify(params.arguments ?? {}) }] };
});
await server.connect(new StdioServerTransport());
