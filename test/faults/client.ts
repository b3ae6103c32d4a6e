import http from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import type { Call, History, Operation, Outcome } from './history.js';
import type { Installation } from './installation.js';

/** A call that a client is about to make. */
export interface Request {
  /** Who makes it, for the history: `worker-3`. */
  client: string;
  op: Operation;
  jobId?: string;
  spaceId?: string;
  attempt?: number;
  /** JSON body. */
  sent?: unknown;
  /** Statuses beside 409 by which it may be refused, and all is well. Default none. */
  mayBe?: readonly number[];
  /** Only through this API, by its place; default: any that takes connections. */
  api?: number;
  /** Default the key that all clients share. */
  key?: string;
}

export type Caller = (request: Request) => Promise<Call>;

export interface Clients {
  /** Make a call, and write down what came of it. Never rejects. */
  call: Caller;
  close(): void;
}

interface Answer {
  /** Null: none came, and the body says why. */
  status: number | null;
  body: unknown;
}

/** No API is waited for longer than this. Two seconds are promised; what is later is told by a rule, and not by this. */
const PATIENCE_MS = 10_000;

/** Between two rounds over APIs none of which takes connections. */
const NOBODY_MS = 20;

/**
 * Make clients of the APIs of an installation, spread over them as a load balancer does: by turns, and past one that takes
 * no connection. No call is ever sent twice.
 */
export function createClients({ apis, key }: Pick<Installation, 'apis' | 'key'>, history: History): Clients {
  const agents = apis.map(() => new http.Agent({ keepAlive: true, maxSockets: 64 }));
  let turn = 0;

  function send(at: number, request: Request): Promise<Answer> {
    const bytes = JSON.stringify(request.sent);
    const headers = {
      'x-api-key': request.key ?? key,
      ...(bytes === undefined
        ? {}
        : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(bytes) }),
    };
    const options = { method: 'POST', headers, agent: agents[at] as http.Agent };
    return new Promise((resolve, reject) => {
      const sending = http.request(`${apis[at]?.url}/api/v1${pathOf(request)}`, options, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () => {
          clearTimeout(timer);
          resolve(answerOf(response.statusCode ?? 0, Buffer.concat(chunks).toString()));
        });
      });
      const timer = setTimeout(() => sending.destroy(new Error('no answer in time')), PATIENCE_MS);
      sending.on('error', (error) => {
        clearTimeout(timer);
        reject(error);
      });
      sending.end(bytes);
    });
  }

  /** Send it to one that takes connections. */
  async function balance(request: Request): Promise<Answer & { api: string }> {
    const first = turn++;
    for (let tried = 1; ; tried++) {
      const at = request.api ?? (first + tried) % apis.length;
      const api = apis[at]?.name as string;
      try {
        return { api, ...(await send(at, request)) };
      } catch (error) {
        const { code, message } = error as NodeJS.ErrnoException;
        const isLast = request.api !== undefined || tried === apis.length;
        // It was not sent, so another one may have it.
        if (code !== 'ECONNREFUSED' || isLast) return { api, status: null, body: message };
      }
    }
  }

  return {
    async call(request) {
      const sentAt = Date.now();
      const answer = await balance(request);
      if (answer.status === null) await delay(NOBODY_MS); // Nobody asks a dead service as fast as it can.
      return history.add(callOf(request, sentAt, answer));
    },
    close() {
      for (const agent of agents) agent.destroy();
    },
  };
}

function pathOf({ op, spaceId, jobId }: Request): string {
  if (op === 'create') return `/spaces/${spaceId}/jobs`;
  if (op === 'poll') return `/spaces/${spaceId}/jobs/poll`;
  return `/jobs/${jobId}/${op === 'redeliver' ? 'callback/redeliver' : op}`;
}

function answerOf(status: number, text: string): Answer {
  try {
    return { status, body: JSON.parse(text) };
  } catch {
    return { status, body: text }; // Cut off, or none of ours: what it says is kept.
  }
}

function outcomeOf(status: number | null): Outcome {
  if (status === null || status >= 500) return 'unknown';
  return status < 300 ? 'ok' : 'refused';
}

function callOf(request: Request, sentAt: number, { api, status, body }: Answer & { api: string }) {
  const { client, op, jobId = null, spaceId = null, attempt = null, sent = null, mayBe = [] } = request;
  const told = body as { id?: string; code?: string } | null;
  const outcome = outcomeOf(status);
  return {
    kind: 'call' as const,
    client,
    api,
    op,
    jobId: op === 'create' && outcome === 'ok' ? (told?.id ?? null) : jobId,
    spaceId,
    attempt,
    sent,
    sentAt,
    answeredAt: Date.now(),
    outcome,
    status,
    code: told?.code ?? null,
    body,
    mayBe,
  };
}
