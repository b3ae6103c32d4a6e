import { isDeepStrictEqual } from 'node:util';
import { SCOPES } from '@yardmaster/protocol';
import { createKey } from '@yardmaster/store';
import type { Ground } from '../fault.js';
import { sends } from '../scripts.js';
import { type ApiRequest, ask } from './asked.js';
import { CHANGES, type Change } from './changes.js';
import { KEY_CALLS, makeKey } from './keys.js';
import { LOSING, type Loss, type LostReply, lieInWait, OTHER, type Trial, teller } from './lost-reply.js';
import { READS } from './reads.js';
import { bring, callFor, endAll, type Start, type Subject, stateOf } from './subject.js';

// Whoever presents a key that an API does not know has it read first, at every endpoint: when that is lost, nothing
// happens at all, and the key is not refused for it.

/** A call of an endpoint with a key of its own. */
interface KeyedCall extends Start {
  endpoint: string;
  make(ground: Ground, subject: Subject, by: { api: number; key: string }): Promise<Answered>;
}

/** The commands that read a key. They are sent together, and so one trial loses both replies. */
const KEY_READ = ['hget', 'time'] as const;

const ofChange = ({ endpoint, op, before, fields, sent }: Change): KeyedCall => ({
  endpoint,
  before,
  ...(fields && { fields }),
  make: (ground, subject, by) =>
    callFor(ground, { op, subject, fields, sent: sent?.(`lost-${subject.n}-by-${by.api}`), ...by }),
});

const asked =
  (requestOf: (ground: Ground, subject: Subject) => ApiRequest | Promise<ApiRequest>): KeyedCall['make'] =>
  async (ground, subject, { api, key }) =>
    ask(ground, api, { ...(await requestOf(ground, subject)), key });

const ofEndpoint = new Map<string, KeyedCall>();
for (const change of CHANGES) ofEndpoint.set(change.endpoint, ofChange(change));
for (const { endpoint, before, path, isLater } of READS)
  if (!isLater)
    ofEndpoint.set(endpoint, { endpoint, before, make: asked((_, at) => ({ method: 'GET', path: path(at) })) });
for (const { endpoint, request } of KEY_CALLS)
  ofEndpoint.set(endpoint, {
    endpoint,
    before: null,
    make: asked(async (ground, { n }) => request(await makeKey(ground, n))),
  });

/** One for each endpoint that others have a row for. */
export const LOST_KEY_READS: readonly LostReply[] = [...ofEndpoint.values()].map((row) => ({
  endpoint: row.endpoint,
  runs: KEY_READ[0],
  beside: KEY_READ[1],
  at: 'api',
  begin: (ground, n, loss) => beginKeyed(ground, row, { n, loss }),
}));

/** What a call was answered. */
interface Answered {
  status: number | null;
  body: { code?: string } | null;
}

async function beginKeyed(ground: Ground, row: KeyedCall, { n, loss }: { n: number; loss: Loss }): Promise<Trial> {
  const { store } = ground.installation;
  const subject = await bring(ground, row, n);
  const { spaceId, jobId } = subject;
  const { id, key } = await createKey(store, { name: 'unknown', scopes: [...SCOPES], spaceId: null, expiresAt: null });
  const before = await stateOf(store, spaceId);
  const lost = lieInWait(ground, 'api', { to: sends(KEY_READ[0], id), loss });
  const tell = teller(ground, { endpoint: row.endpoint, runs: KEY_READ.join(' and ') });
  let first: Answered;
  return {
    async send() {
      first = await row.make(ground, subject, { api: LOSING, key });
    },
    async judge() {
      lost.disarm();
      if (lost.at === null) tell('no reply was lost', { jobId });
      const { status, body } = first;
      if (status !== 503 || body?.code !== 'UNAVAILABLE') tell(`answered ${status} ${body?.code}`, { jobId });
      if (!isDeepStrictEqual(await stateOf(store, spaceId), before)) tell('it happened all the same', { jobId });
      const again = await row.make(ground, subject, { api: OTHER, key });
      if (again.status === null || again.status >= 300)
        tell(`the same call again was answered ${again.status} ${again.body?.code}`, { jobId });
      await endAll(ground, spaceId);
    },
  };
}
