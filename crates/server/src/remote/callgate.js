// One file for programs and pages that call methods of Callgate or offer functions of their own.
//
//   import { connect } from 'http://127.0.0.1:4000/callgate.js';
//   const gate = connect({ key: 'callgate_...', clientId: 'my-app' });
//   await gate.offer({ add: (a, b) => a + b });
//   console.log(await gate.call('add', 1, 2));
//
// In a page, `offer` and `call` alone use a connection to where this file came from. In Node, save
// the file and install socket.io-client, or pass its `io`: connect({ io, url, key }).

const here = typeof import.meta.url === 'string' && import.meta.url.startsWith('http')
  ? new URL(import.meta.url).origin
  : 'http://127.0.0.1:4000';

async function library() {
  if (globalThis.io) return globalThis.io;
  if (typeof window === 'undefined') return (await import('socket.io-client')).io;
  return (await import(`${here}/socket.io/socket.io.esm.min.js`)).io;
}

const random = () => globalThis.crypto?.randomUUID?.() ?? Math.random().toString(36).slice(2);

// What a function takes, where nobody says: its parameters by name, those with a default optional.
function parametersOf(fn) {
  const source = fn.toString().replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '');
  const list = source.match(/^(?:async\s*)?(?:function\b[^(]*|[\w$]*\s*)?\(([^)]*)\)/)?.[1]
    ?? source.match(/^(?:async\s+)?([\w$]+)\s*=>/)?.[1] ?? '';
  const names = list.split(',').map((part) => part.trim()).filter(Boolean);
  if (!names.every((name) => /^[A-Za-z_]\w*\s*(=|$)/.test(name))) {
    return { type: 'object', additionalProperties: true };
  }
  const properties = Object.fromEntries(names.map((name) => [name.split('=')[0].trim(), {}]));
  const required = names.filter((name) => !name.includes('='));
  return { type: 'object', properties, required };
}

export function connect({ url = here, key, clientId, clientType = 'callgate.js', desc, io } = {}) {
  const id = clientId ?? `page-${random()}`;
  const functions = new Map();

  const opened = (async () => {
    const open = io ?? (await library());
    const auth = { clientId: id, clientType, desc, key };
    const socket = open(`${url}/function_call`, { auth });
    socket.on('FUNCTION_CALL', async (data, answer) => {
      if (data?.target !== id) return;
      const requestId = data.requestId;
      const offered = functions.get(data.functionName);
      try {
        if (!offered) throw new Error(`Function "${data.functionName}" not found.`);
        const args = Array.isArray(data.args) ? data.args : data.args == null ? [] : [data.args];
        const told = (done, total, text) => socket.emit('FUNCTION_PROGRESS', { requestId, done, total, text });
        const result = await offered.run.apply({ progress: told }, args);
        answer?.({ requestId, success: true, result: result ?? null });
      } catch (error) {
        answer?.({ requestId, success: false, error: { message: String(error?.message ?? error) } });
      }
    });
    await new Promise((resolve, reject) => {
      socket.once('connect', resolve);
      socket.once('connect_error', (error) => { if (!socket.active) reject(error); });
    });
    // After a reconnect the server knows nothing of what was offered before.
    socket.on('connect', () => { if (functions.size) announce(socket).catch(() => {}); });
    return socket;
  })();
  opened.catch(() => {});

  async function announce(socket) {
    const list = [...functions.values()].map(({ run, ...described }) => described);
    const answer = await socket.emitWithAck('REGISTER_FUNCTIONS', { functions: list });
    if (!answer.success) throw new Error(answer.error.message);
    return answer.result.registered;
  }

  return {
    clientId: id,
    /** Resolves once the server has let us in. */
    ready: opened.then(() => undefined),
    /** `{name: function}`, or `{name: {run, description, parameters, kind, effect, seconds}}`. */
    async offer(offers) {
      for (const [name, given] of Object.entries(offers)) {
        const described = typeof given === 'function' ? { run: given } : given;
        functions.set(name, {
          description: '', parameters: parametersOf(described.run), kind: 'tool', ...described, name,
        });
      }
      return announce(await opened);
    },
    /** Calls a method of the server. */
    call(name, ...args) {
      return this.callAt('server', name, ...args);
    },
    /** Calls a function of another client. */
    async callAt(target, functionName, ...args) {
      const socket = await opened;
      const request = { requestId: random(), functionName, args, target };
      const answer = await socket.emitWithAck('FUNCTION_CALL', request);
      if (!answer.success) throw new Error(answer.error.message);
      return answer.result;
    },
    async close() {
      (await opened).disconnect();
    },
  };
}

let shared = null;
const common = () => (shared ??= connect());
export const offer = (offers) => common().offer(offers);
export const call = (name, ...args) => common().call(name, ...args);

globalThis.callgate ??= { connect, offer, call };
