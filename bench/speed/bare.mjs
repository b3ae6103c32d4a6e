// What HTTP itself costs: a bare node:http server that reads the bodies and answers the same ones, without Redis, routes,
// keys or checks. It knows the endpoint by the end of the path and nothing else.
import http from 'node:http';

const ID = `00${'a'.repeat(26)}`;
const at = '2026-01-01T00:00:00.000Z';
const payloadBytes = Number(process.env.PAYLOAD_BYTES);
const payload = { text: 'x'.repeat(Math.max(0, payloadBytes - '{"text":""}'.length)) };
const claimed = {
  id: ID,
  name: 'name-0',
  payload,
  timeoutSeconds: 300,
  maxRetries: 3,
  attemptNumber: 0,
  createdAt: at,
};
const created = {
  id: ID,
  spaceId: 'bench-0',
  name: 'name-0',
  payload,
  status: 'pending',
  maxRetries: 3,
  attemptNumber: 0,
  timeoutSeconds: 300,
  callbackUrl: null,
  callbackHeaders: null,
  deliveredAt: null,
  startedAt: null,
  completedAt: null,
  result: null,
  createdAt: at,
  updatedAt: at,
};
const BODIES = Object.entries({
  '/poll': { jobs: process.env.HAS_JOBS === 'true' ? [{ ...claimed, checkpoint: null }] : [] },
  '/ack': { success: true },
  '/complete': { success: true },
  '/jobs': created,
}).map(([end, body]) => ({ end, text: JSON.stringify(body), status: end === '/jobs' ? 201 : 200 }));

const server = http.createServer((req, res) => {
  const { text, status } = BODIES.find(({ end }) => req.url.endsWith(end));
  const chunks = [];
  req.on('data', (chunk) => chunks.push(chunk));
  req.on('end', () => {
    Buffer.concat(chunks);
    res.writeHead(status, {
      'content-type': 'application/json; charset=utf-8',
      'content-length': Buffer.byteLength(text),
    });
    res.end(text);
  });
});
server.keepAliveTimeout = 75_000; // As ours: the clients stay while others have their turns.
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`${JSON.stringify({ url: `http://127.0.0.1:${server.address().port}` })}\n`);
});
process.on('SIGTERM', () => process.exit(0));
