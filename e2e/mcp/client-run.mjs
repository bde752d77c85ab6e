// One scenario: the server at the address that comes last is written into a configuration, and the
// real binary uses its tools as anybody would, by the command line.
import { Scene } from "./scene.mjs";

const url = process.argv.at(-1);
const scenario = process.env.MCP_CONFORMANCE_SCENARIO;
const context = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? "{}");
const scene = await Scene.open(() => `[[mcp]]\nname = "suite"\nurl = "${url}"\n`);

const call = (tool, args = {}) =>
  scene.callgate("call", `mcp:suite/${tool}`, "--args", JSON.stringify(args));
/** A scenario may want its tool to fail. */
const attempt = (...words) => call(...words).catch((error) => console.error(String(error.stderr)));

const sample = (type) => ({ object: {}, array: [], null: null, integer: 1, number: 1, boolean: true })[type] ?? "x";

/** What each scenario wants to be called, if anything. */
const wishes = {
  tools_call: () => call("add_numbers", { a: 5, b: 3 }),
  "sse-retry": () => call("test_reconnection"),
  "http-standard-headers": async () => {
    await call("test_headers");
    await call("my_hyphenated_tool");
  },
  "http-custom-headers": async () => {
    for (const { name, arguments: args } of context.toolCalls) {
      // A boolean cannot be null here: what is not given is left out.
      const given = Object.entries(args).filter(([, value]) => value !== null);
      await call(name, Object.fromEntries(given));
    }
  },
  "http-invalid-tool-headers": async () => {
    // Whatever is offered is called, with something in the place of each argument.
    const [{ methods }] = await scene.callgate("mcp", "list");
    for (const name of methods) {
      const { parameters } = await scene.callgate("methods", `mcp:suite/${name}`);
      const filled = Object.entries(parameters.properties).map(([key, { type }]) => [key, sample(type)]);
      await attempt(name, Object.fromEntries(filled));
    }
  },
  "sep-2322-client-request-state": async () => {
    await attempt("test_mrtr_echo_state");
    await attempt("test_mrtr_unrelated");
    await attempt("test_mrtr_no_state");
    await attempt("test_mrtr_no_result_type");
  },
  "json-schema-2020-12-preservation": async () => {
    const { parameters } = await scene.callgate("methods", "mcp:suite/json_schema_2020_12_tool");
    await call("json_schema_echo", { schema: parameters });
  },
};

try {
  const servers = await scene.callgate("mcp", "list");
  console.error(JSON.stringify(servers));
  await wishes[scenario]?.();
} finally {
  await scene.close();
}
