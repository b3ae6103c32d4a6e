import { setTimeout as delay } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { readPaused, readSettings } from '@yardmaster/store';
import type { Body, Operation } from '../checker/history.js';
import type { Span } from '../checker/stalls.js';
import { type Matcher, runsOrSends, sends } from '../installation/scripts.js';
import { BODIES } from '../load/bodies.js';
import { REVOKED_MS, SLOW_MS } from '../load/key-use.js';
import type { FaultContext } from '../runs/fault.js';
import { playTwice, seenOf } from './expected.js';
import {
  CHANGES,
  isLater,
  KEY_CALLS,
  KEY_READ,
  LATER,
  LONG_READ_FROM,
  PERIODIC,
  READ_FROM,
  READS,
  SPACE_CALLS,
} from './rows.js';
import { bring, CLIENT, endAll, makeKey, type Start, type Subject, storedJobs, type TrialKey } from './subject.js';
import { callApi, LOSING, type LostReply, loseReply, OTHER } from './trial.js';

// Trials of the API. Without the reply, a call returns 503 and has taken effect at most once. The response to a retry must be
// consistent with that.

const STATS = { method: 'GET', path: '/spaces/lost/stats' };

interface Responded {
  status: number | null;
  body: Body;
  during: Span;
}

/** The job and the key of a trial. */
type About = Subject & { key: TrialKey };

/** Make a call with a key. */
type Make = (context: FaultContext, about: About, by: { api: number; key?: string; nth: string }) => Promise<Responded>;

interface Row {
  endpoint: string;
  runs: string;
  start: Start;
  isRead?: true; // The call can be repeated with both APIs.
  make: Make;
  matches(about: About): Matcher; // Command whose reply is lost.
  /** Return the part of the stored state to compare. Default: all of it. */
  state?(context: FaultContext, about: About): Promise<unknown>;
  left?: unknown; // State after the call. Default: unchanged.
  seen(response: Responded): unknown; // Part of the response to the repeated call to compare, and its value.
  again: unknown;
  leftAgain?: unknown; // State after the repeated call. Default: not compared.
  also?: typeof isRevoked; // Additional check after the call, of a key that both APIs have cached.
}

/** Make a call that changes jobs, and record it in the history, so that the rules can explain its effects. */
const inHistory =
  (op: Operation, key: Start['key']): Make =>
  async ({ call }, { n, spaceId, jobId, token }, { nth, ...how }) => {
    const unique = key === 'unique' ? { unique: { key: `lost-${n}` } } : {};
    const create = { name: 'lost', payload: { n }, maxRetries: 3, timeoutSeconds: 120, ...unique };
    const idempotencyKey = key === 'idempotency' ? `lost-${n}` : null;
    const of = op === 'create' || op === 'poll' ? { spaceId } : { jobId: jobId as string };
    const body = op === 'create' ? create : BODIES[op]?.(`lost-${n}-${nth}`);
    const made = await call({ client: CLIENT, op, ...of, token, sent: body, idempotencyKey, ...how });
    return { ...made, during: { from: made.sentAt, until: made.endedAt } };
  };

const rowsOfChanges = CHANGES.map((change): Row => {
  const [op, endpoint, runs, start] = change;
  const { left, again, leftAgain } = playTwice(change);
  const fields = Object.keys(again.body);
  return {
    ...{ endpoint, runs, start, left, again },
    ...((start.key !== undefined || start.withToken) && { leftAgain }),
    make: inHistory(op, start.key),
    matches: ({ spaceId, jobId }) => runsOrSends(runs, op === 'poll' ? spaceId : (jobId ?? spaceId)),
    state: async ({ installation }, { spaceId }) => (await storedJobs(installation.store, spaceId)).map(seenOf),
    seen: ({ status, body }) => ({ status, body: Object.fromEntries(fields.map((field) => [field, body?.[field]])) }),
  };
});

/** Return the argument that identifies the command of a read; '' if it is not about a specific job or space. */
function argumentOf(runs: string, path: string, { spaceId, jobId }: About): string {
  if (runs === 'time' || runs === 'zrangebyscore') return '';
  const isOfSpace = runs !== 'hmget' && (runs === 'stats' || path.includes(spaceId));
  return isOfSpace ? spaceId : (jobId as string);
}

const rowsOfReads = READS.map(
  ([endpoint, runs, path, seen, is]): Row => ({
    ...{ endpoint, runs, start: LATER.includes(runs) ? LONG_READ_FROM : READ_FROM, again: is },
    isRead: true,
    make: (context, about, { api, key }) => callApi(context, api, { method: 'GET', path: path(about), key }),
    matches: (about) => runsOrSends(runs, argumentOf(runs, path(about), about)),
    seen: ({ status, body }) => (status === 200 ? seen(body) : status),
  }),
);

const rowsOfKeyCalls = KEY_CALLS.map(
  ([endpoint, runs, request, [left, leftAgain], again]): Row => ({
    ...{ endpoint, runs, start: { before: null }, left, again, leftAgain },
    make: (context, { key: of }, { api, key }) => callApi(context, api, { ...request(of), key }),
    matches: ({ key }) => runsOrSends(runs, ['hget', 'replace_key', 'revoke_key'].includes(runs) ? key.id : ''),
    state: async ({ installation: { store, connection } }, { key }) =>
      (await connection.hvals(store.keys.apiKeys)).filter((record) => JSON.parse(record).name === key.name).length,
    seen: ({ status }) => status,
    ...(left === 0 && { also: isRevoked }),
  }),
);

const rowsOfSpaceCalls = SPACE_CALLS.map(
  ([endpoint, runs, request, left, leftAgain]): Row => ({
    ...{ endpoint, runs, start: { before: null }, left, leftAgain, again: 200 },
    make: (context, { spaceId }, { api, key }) => callApi(context, api, { ...request(spaceId), key }),
    matches: ({ spaceId }) => runsOrSends(runs, spaceId),
    async state({ installation: { store } }, { spaceId }) {
      const paused = await readPaused(store, spaceId);
      return { settings: await readSettings(store, spaceId), ...(paused !== undefined && { paused }) };
    },
    seen: ({ status }) => status,
  }),
);

type Must = ReturnType<typeof loseReply>['must'];

/** Check that no API accepts a revoked key, although the response to the revocation was lost (P14). */
async function isRevoked(context: FaultContext, { key }: About, must: Must): Promise<void> {
  await delay(REVOKED_MS + SLOW_MS);
  for (const api of [LOSING, OTHER]) {
    const { status } = await callApi(context, api, { ...STATS, key: key.text });
    must(status === 401, `API ${api + 1} returned ${status} for the revoked key`);
  }
}

const ROWS = [...rowsOfChanges, ...rowsOfReads, ...rowsOfSpaceCalls, ...rowsOfKeyCalls];

/** Calls with a new key, which the API reads first. If that reply is lost, nothing happens, and the key is not refused. */
const KEYED = [
  ...new Map(ROWS.filter(({ runs }) => !LATER.includes(runs)).map((row) => [row.endpoint, row])).values(),
].map(
  ({ endpoint, start, make }): Row => ({
    ...{ endpoint, runs: KEY_READ[0], start, again: true },
    make: async (context, about, by) => {
      // The key of the trial is new, and the call is about another key.
      return make(context, { ...about, key: await makeKey(context, about.n) }, { ...by, key: about.key.text });
    },
    matches: ({ key }) => sends(KEY_READ[0], key.id),
    seen: ({ status }) => status !== null && status < 300,
  }),
);

async function beginCall(context: FaultContext, row: Row, n: number, loss: Parameters<LostReply['begin']>[2]) {
  const about: About = { ...(await bring(context, row.start, n)), key: await makeKey(context, n) };
  const state = () => (row.state ?? everything)(context, about);
  if (row.also) for (const api of [LOSING, OTHER]) await callApi(context, api, { ...STATS, key: about.key.text });
  const before = await state();
  const { must, mustBeInTime, over } = loseReply(context, { ...row, at: 'api' }, about.jobId, loss, row.matches(about));
  let first: Responded;
  return {
    async send() {
      first = await row.make(context, about, { api: LOSING, nth: 'first' });
    },
    async check() {
      over();
      const { status, body, during } = first;
      must(status === 503 && body?.code === 'UNAVAILABLE', `returned ${status} ${JSON.stringify(body)}`);
      mustBeInTime(during);
      const left = await state();
      must(isDeepStrictEqual(left, row.left ?? before), `left ${JSON.stringify(left)}`);
      if (row.also) await row.also(context, about, must);
      for (const api of row.isRead ? [LOSING, OTHER] : [OTHER]) {
        const again = row.seen(await row.make(context, about, { api, nth: 'again' }));
        must(
          isDeepStrictEqual(again, row.again),
          `API ${api + 1} returned ${JSON.stringify(again)} for the same call again`,
        );
      }
      const leftAgain = row.leftAgain === undefined ? undefined : await state();
      must(isDeepStrictEqual(leftAgain, row.leftAgain), `the same call again left ${JSON.stringify(leftAgain)}`);
      await endAll(context, about.spaceId);
    },
  };
}

const everything: NonNullable<Row['state']> = ({ installation }, { spaceId }) =>
  storedJobs(installation.store, spaceId);

const lostOf = (row: Row): LostReply => ({
  endpoint: row.endpoint,
  runs: row.runs,
  at: 'api',
  isLater: isLater(row) || row.runs === PERIODIC,
  begin: (context, n, loss) => beginCall(context, row, n, loss),
});

/** Every reply that an endpoint of the API waits for. */
export const LOST_CALLS: readonly LostReply[] = ROWS.map(lostOf);
export const LOST_KEY_READS: readonly LostReply[] = KEYED.map((row) => ({ ...lostOf(row), beside: KEY_READ[1] }));
