// The cost of HTTP alone: a bare node:http server that reads bodies and sends the responses of the API, without Redis, routes, keys
// or checks. The end of the path selects the response.
import { payloadOf } from '../load/worker.mjs';
import { serveBare } from './bare-server.mjs';

const ID = `00${'a'.repeat(26)}`;
const at = '2026-01-01T00:00:00.000Z';
const common = { id: ID, name: 'name-0', payload: payloadOf(Number(process.env.PAYLOAD_BYTES)), createdAt: at };
const claimed = { ...common, timeoutSeconds: 300, maxRetries: 3, attemptNumber: 0, checkpoint: null };
const created = {
  ...common,
  spaceId: 'bench-0',
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
  updatedAt: at,
};
const RESPONSES = Object.entries({
  '/poll': { jobs: process.env.HAS_JOBS === 'true' ? [claimed] : [] },
  '/ack': { success: true },
  '/complete': { success: true },
  '/jobs': created,
}).map(([end, body]) => ({ end, text: JSON.stringify(body), status: end === '/jobs' ? 201 : 200 }));

serveBare((url) => RESPONSES.find(({ end }) => url.endsWith(end)));
