// What the extension of SillyTavern does in its page, request by request: one connection for all
// namespaces, two settings files before it has a key, a key that it keeps nowhere, then everything else
// with it. Its server is always at port 4000 of this machine.
import { io } from "http://localhost:4000/socket.io/socket.io.esm.min.js";

const clientType = "SillyTavern";
const clientId = `SillyTavern-${location.port}`;
const desc = `at port ${location.port}`;

function socket(namespace, key, { autoConnect = false, reconnection = false, reconnectionAttempts = 3 } = {}) {
  const auth = { clientType, clientId, desc, ...(key && { key }) };
  return io(`http://localhost:4000${namespace}`, { auth, clientId, autoConnect, reconnection, reconnectionAttempts });
}

/** A settings file, read by a guest. It looks into the document before it looks whether there is one. */
function read(requestId, file, options, found) {
  const guest = socket("/function_call", undefined, options);
  guest.connect();
  guest.on("connect", () => {
    const data = { requestId, target: "server", functionName: "readJsonFromFile", args: [`./settings/${file}.json`] };
    guest.emit("FUNCTION_CALL", data, (response) => {
      if (response.success) found(response.result);
      guest.disconnect();
    });
  });
}

async function enter() {
  const asking = socket("/sillytavern", "getKey", { reconnection: true });
  asking.connect();
  const key = await new Promise((resolve, reject) => {
    asking.on("connect", () => {
      asking.emit("IDENTIFY_SILLYTAVERN", { clientId }, (response) => {
        if (response.key) resolve(response.key);
        else reject(new Error(response.message));
      });
    });
    asking.on("connect_error", reject);
  });
  asking.disconnect();
  const llm = socket("/llm", key, { reconnection: true, reconnectionAttempts: 10 });
  llm.connect();
  globalThis.llmSocket = llm;
  llm.on("connect", () => work(key));
}

function work(key) {
  const open = (namespace) => socket(namespace, key, { autoConnect: true }).connect();
  open("/auth");
  const functions = open("/function_call");
  functions.on("FUNCTION_CALL", (data, answer) => {
    const { requestId, target, args } = data;
    if (target === clientId) answer({ requestId, success: true, result: { heard: args } });
  });
  open("/clients");
  const clients = open("/clients");
  clients.emit("GET_ALL_CLIENT_KEYS", {}, () => {});
  clients.emit("UPDATE_CONNECTED_CLIENTS", {}, () => {});
  const server = (requestId, functionName, ...args) =>
    functions.emit("FUNCTION_CALL", { requestId, target: "server", functionName, args }, () => {});
  const save = () => server("saveSettings", "saveJsonToFile", "./settings/server_settings.json", { networkSafe: true });
  document.getElementById("ST-NewAge-socketio-saveSettingsBtn").addEventListener("click", save);
  server("loadSettings", "readJsonFromFile", `./settings/${clientId}-settings.json`);
}

read("checkRememberMe", `${clientId}-settings`, { reconnection: true }, (settings) => {
  if (settings.result.Remember_me !== null) void enter();
});
read("loadNetworkSafeSetting", "server_settings", {}, () => {});
