import { setTimeout as delay } from 'node:timers/promises';
import { HttpClient } from '../../test/support/http.js';
import type { Call, History } from '../checker/history.js';
import type { AppProcess } from '../installation/app-process.js';
import { within } from '../runs/waiting.js';
import { type ListCallers, listCallers } from './list-calls.js';
import type { Exchange, Request, Response, Wire } from './request.js';

/** Make a call, and record its outcome in the history. Never rejects. */
export type Caller = (request: Request) => Promise<Call>;

const GIVE_UP_MS = 10_000; // A rule checks the promised two seconds.
const SOCKETS = 1_000; // Per API: more than all clients need, so that no call waits in this process.
const PAUSE_MS = 20; // Pause after a call for which no API accepted a connection.

/** Clients of all APIs. */
export interface Clients extends ListCallers {
  call: Caller;
  close(): void;
}

/** The part of an installation that clients use. */
export interface Service {
  apis: readonly Pick<AppProcess, 'name' | 'url'>[];
  key: string;
}

/**
 * Create clients for the APIs of an installation. Calls go to the APIs in rotation, as from a load balancer, skipping an API
 * that accepts no connection. No call is sent twice.
 */
export function createClients({ apis, key }: Service, history: Pick<History, 'add'>): Clients {
  const clients = apis.map(({ url }) => new HttpClient(url, SOCKETS));
  let nextApi = 0;

  async function send(client: HttpClient, wire: Wire): Promise<Omit<Response, 'api'>> {
    const sent = { key: wire.key ?? key, body: wire.body, headers: wire.headers };
    const response = await within(GIVE_UP_MS, client.call(wire.method ?? 'POST', `/api/v1${wire.path}`, sent));
    if (response === null) return { status: null, body: 'no response in time' };
    return { status: response.status, body: response.body ?? response.text };
  }

  async function balance(wire: Wire): Promise<Response> {
    const first = nextApi++;
    for (let tried = 1; ; tried++) {
      const at = wire.api ?? (first + tried) % apis.length;
      const api = apis[at]?.name as string;
      try {
        return { api, ...(await send(clients[at] as HttpClient, wire)) };
      } catch (error) {
        const { code, message } = error as NodeJS.ErrnoException;
        const isLast = wire.api !== undefined || tried === apis.length;
        // After a refused connection, nothing was sent, so try another API.
        if (code !== 'ECONNREFUSED' || isLast) return { api, status: null, body: message };
      }
    }
  }

  async function exchange(wire: Wire): Promise<Exchange> {
    const sentAt = Date.now();
    const response = await balance(wire);
    if (response.status === null) await delay(PAUSE_MS);
    return { ...response, sentAt, endedAt: Date.now() };
  }

  const record = (request: Request, outcome: Exchange) => history.add(callOf(request, outcome));

  return {
    call: async (request) => record(request, await exchange(wireOf(request))),
    ...listCallers(exchange, record),
    close() {
      for (const client of clients) client.close();
    },
  };
}

const wireOf = (request: Request): Wire => ({
  ...(request.op === 'delete' && { method: 'DELETE' }),
  path: pathOf(request),
  body: request.sent,
  headers: {
    'x-delivery-token': request.token ?? undefined,
    'idempotency-key': request.idempotencyKey ?? undefined,
  },
  api: request.api,
  key: request.key,
});

function pathOf({ op, spaceId, jobId }: Request): string {
  if (op === 'create') return `/spaces/${spaceId}/jobs`;
  if (op === 'poll') return `/spaces/${spaceId}/jobs/poll`;
  if (op === 'delete') return `/jobs/${jobId}`;
  return `/jobs/${jobId}/${op === 'redeliver' ? 'callback/redeliver' : op}`;
}

/** Codes of a 503 that promise that nothing was done. */
const NOTHING_DONE = ['OVERLOADED', 'STORAGE_UNSAFE'];

function outcomeOf(status: number | null, code: string | null): Call['outcome'] {
  if (status === 503 && NOTHING_DONE.includes(code as string)) return 'not now';
  if (status === null || status >= 500) return 'unknown';
  return status < 300 ? 'ok' : 'refused';
}

function callOf(request: Request, { api, status, body, sentAt, endedAt }: Exchange) {
  const { client, op, jobId = null, spaceId = null, sent = null, token = null, idempotencyKey = null } = request;
  const { id, code = null } = (body ?? {}) as { id?: string; code?: string };
  const outcome = outcomeOf(status, code);
  const known = op === 'create' && outcome === 'ok' ? (id ?? null) : jobId;
  // An earlier delete may have happened, although its response was lost.
  const mayBe = op === 'delete' ? [404] : [];
  const result = { sentAt, endedAt, outcome, status, code, body, mayBe };
  return { kind: 'call' as const, client, api, op, jobId: known, spaceId, token, idempotencyKey, sent, ...result };
}
