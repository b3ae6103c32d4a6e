// An HTTP proxy between an SDK and the service, which counts calls and breaks some of them.
import http from 'node:http';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';

/** Actions of calls about one job, as their paths name them. */
const OF_JOB =
  /^\/api\/v1\/jobs\/[^/]+\/(ack|keepalive|progress|checkpoint|event|complete|fail|release|logs|kill|claim)/;

/** Return the actions of a request: the action of the call, and of each outcome in its body. */
function actionsOf({ method, url }, body) {
  const path = url.split('?')[0];
  const one = OF_JOB.exec(path)?.[1];
  if (one !== undefined && method === 'POST') return [one];
  const json = body.length > 0 ? parse(body) : null;
  const outcomes = (json?.outcomes ?? json?.settle ?? []).map(({ action }) => action);
  if (/\/jobs\/poll$/.test(path)) return ['poll', ...outcomes];
  if (/\/jobs\/settle$/.test(path)) return ['settle', ...outcomes];
  if (/\/spaces\/[^/]+\/jobs$/.test(path) && method === 'POST') return ['create'];
  if (/\/jobs\/[^/]+$/.test(path) && method === 'GET') return ['get'];
  if (path.includes('/realtime/')) return ['stream'];
  return ['other'];
}

function parse(body) {
  try {
    return JSON.parse(body);
  } catch {
    return null;
  }
}

/** What each fault does with a request. `ask` sends it to the service and returns the response. */
const FAULTS = {
  /** The service never gets the request. */
  'lose-request': ({ socket }) => socket.resetAndDestroy(),
  /** The service handles the request, but the client never gets the response. */
  async 'swallow-next-reply'({ socket, ask }) {
    await ask();
    socket.resetAndDestroy();
  },
  /** The connection closes in the middle of the response. */
  async 'cut-reply'({ socket, ask }) {
    const { body } = await ask();
    socket.end(`HTTP/1.1,200 OK\r\ncontent-length: ${body.length}\r\n\r\n${body.subarray(0, body.length / 2)}`);
  },
  /** The response is late. */
  async delay({ ask, reply, fault }) {
    const response = await ask();
    setTimeout(() => reply(response), fault.ms);
  },
  /** The proxy responds, and the service never gets the request. */
  respond: ({ reply, fault }) =>
    reply({
      status: fault.status,
      headers: {
        'content-type': typeof fault.body === 'string' ? 'text/html' : 'application/json',
        'x-request-id': 'of-the-proxy',
        ...fault.headers,
      },
      body: Buffer.from(typeof fault.body === 'string' ? fault.body : JSON.stringify(fault.body)),
    }),
};

/**
 * Start a proxy.
 *
 * @param upstream URL of the service
 * @param secret a text that must not appear in a URL, because URLs are logged
 * @returns its `url`; `isSecretInUrl()`; `calls`, counts of actions so far; `add(fault)` with `{proxy, on, times, …}`; `clear()` and `close()`
 */
export async function startProxy(upstream, secret) {
  const { hostname, port } = new URL(upstream);
  const agent = new http.Agent({ keepAlive: true, maxSockets: 64 });
  const calls = {};
  let isSecretInUrl = false;
  let faults = [];
  const sockets = new Set();

  /** Return the next fault for a request and count it down. */
  function faultFor(actions) {
    const fault = faults.find(({ on }) => on === 'any' || actions.includes(on));
    if (fault !== undefined && --fault.times <= 0) faults = faults.filter((each) => each !== fault);
    return fault;
  }

  function count(actions) {
    for (const action of actions) calls[action] = (calls[action] ?? 0) + 1;
  }

  /** Send a request to the service. @returns the response, with its body still unread */
  const send = ({ method, url, headers }, body, signal) =>
    new Promise((resolve, reject) => {
      const options = { hostname, port, agent, method, path: url, headers, signal };
      http.request(options, resolve).on('error', reject).end(body);
    });

  async function ask(req, body, signal) {
    const response = await send(req, body, signal);
    return { status: response.statusCode, headers: response.headers, body: await buffer(response) };
  }

  async function serve(req, res) {
    const parts = [];
    for await (const part of req) parts.push(part);
    const body = Buffer.concat(parts);
    const actions = actionsOf(req, body);
    count(actions);
    const fault = faultFor(actions);
    const gone = new AbortController(); // The service must notice that a waiting client has disconnected.
    res.once('close', () => gone.abort());
    const reply = ({ status, headers, body: text }) => {
      const { 'transfer-encoding': _, connection: __, ...others } = headers;
      res.writeHead(status, { ...others, 'content-length': text.length }).end(text);
    };
    if (fault === undefined && actions.includes('stream')) {
      const response = await send(req, body, gone.signal);
      res.writeHead(response.statusCode, response.headers);
      return pipeline(response, res);
    }
    if (fault === undefined) return reply(await ask(req, body, gone.signal));
    return FAULTS[fault.proxy]({ socket: req.socket, ask: () => ask(req, body), reply, fault });
  }

  const server = http.createServer((req, res) => {
    isSecretInUrl ||= req.url.includes(secret);
    serve(req, res).catch(() => res.destroy());
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    calls,
    isSecretInUrl: () => isSecretInUrl,
    add(fault) {
      if (fault.proxy === 'reset-all') for (const socket of sockets) socket.resetAndDestroy();
      else faults.push({ times: 1, ...fault });
    },
    clear() {
      faults = [];
    },
    close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      agent.destroy();
    },
  };
}
