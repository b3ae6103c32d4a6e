import { setTimeout as delay } from 'node:timers/promises';
import { createKey, listKeys } from '@yardmaster/store';
import type { Ground } from '../fault.js';
import { BUSY_MS } from '../revocation.js';
import { sends } from '../scripts.js';
import { type ApiRequest, type Asked, ask, refusalFault } from './asked.js';
import { LOSING, type Loss, type LostReply, lieInWait, OTHER, type Trial, teller } from './lost-reply.js';

/** A call that looks after API keys. None of them is a script: each is one command, or two. */
interface KeyCall {
  endpoint: string;
  /** The command whose reply is lost. */
  runs: string;
  isLater?: true;
  request(key: TrialKey): ApiRequest;
  /** Whether that command names the key. */
  namesKey?: true;
  /** How many keys of that name there are, before the call, after it, and once it was made again. */
  keys: readonly [before: number, after: number, again: number];
  /** What the same call is answered. */
  again: number;
}

/** The key of a trial. Its name is its own. */
export interface TrialKey {
  id: string;
  name: string;
  /** As callers present it. */
  text: string;
}

const create = ({ name }: TrialKey): ApiRequest => ({
  method: 'POST',
  path: '/keys',
  body: { name, scopes: ['jobs:read'] },
});
const list = (): ApiRequest => ({ method: 'GET', path: '/keys' });
const revoke = ({ id }: TrialKey): ApiRequest => ({ method: 'DELETE', path: `/keys/${id}` });

/** Every endpoint of API keys, with each command that it needs. A key that was made unheard is nobody's: it is made anew. */
export const KEY_CALLS: readonly KeyCall[] = [
  { endpoint: 'createKey', runs: 'time', request: create, keys: [1, 1, 2], again: 201 },
  { endpoint: 'createKey', runs: 'hset', isLater: true, request: create, keys: [1, 2, 3], again: 201 },
  { endpoint: 'listKeys', runs: 'hvals', request: list, keys: [1, 1, 1], again: 200 },
  { endpoint: 'revokeKey', runs: 'hdel', namesKey: true, request: revoke, keys: [1, 0, 0], again: 404 },
  { endpoint: 'revokeKey', runs: 'publish', namesKey: true, request: revoke, keys: [1, 0, 0], again: 404 },
];

/** The same, to be tried. */
export const LOST_KEY_CALLS: readonly LostReply[] = KEY_CALLS.map((row) => ({
  endpoint: row.endpoint,
  runs: row.runs,
  at: 'api',
  ...(row.isLater && { isLater: true }),
  begin: (ground, n, loss) => beginKeyCall(ground, row, { n, loss }),
}));

/** Make a key past the APIs. */
export async function makeKey({ installation: { store } }: Ground, n: number): Promise<TrialKey> {
  const name = `lost-${n}`;
  const { id, key } = await createKey(store, { name, scopes: ['jobs:read'], spaceId: null, expiresAt: null });
  return { id, name, text: key };
}

async function beginKeyCall(ground: Ground, row: KeyCall, { n, loss }: { n: number; loss: Loss }): Promise<Trial> {
  const tell = teller(ground, row);
  const key = await makeKey(ground, n);
  for (const api of [LOSING, OTHER]) await use(ground, api, key); // Both believe it by now.
  const lost = lieInWait(ground, 'api', { to: sends(row.runs, row.namesKey ? key.id : ''), loss });
  let first: Asked;

  async function count(which: number): Promise<void> {
    const stored = (await listKeys(ground.installation.store)).filter(({ name }) => name === key.name).length;
    if (stored !== row.keys[which]) tell(`${stored} keys are there, where ${row.keys[which]} were to be`);
  }

  return {
    async send() {
      await count(0);
      first = await ask(ground, LOSING, row.request(key));
    },
    async judge() {
      lost.disarm();
      if (lost.at === null) tell('no reply was lost');
      const fault = refusalFault(first);
      if (fault !== null) tell(fault);
      await count(1);
      if (row.keys[1] === 0) await judgeRevoked(ground, key, tell);
      const again = await ask(ground, OTHER, row.request(key));
      if (again.status !== row.again) tell(`the same call again was answered ${again.status}`);
      await count(2);
    },
  };
}

const use = (ground: Ground, api: number, { text }: TrialKey) =>
  ask(ground, api, { method: 'GET', path: '/spaces/lost/stats', key: text });

/** So long a revocation may take that was announced. */
const REVOKED_MS = 1_000;

/** A revoked key is of no use anywhere, though whoever revoked it was told that nobody knows (P14). */
async function judgeRevoked(ground: Ground, key: TrialKey, tell: ReturnType<typeof teller>): Promise<void> {
  await delay(REVOKED_MS + BUSY_MS);
  for (const api of [LOSING, OTHER]) {
    const { status } = await use(ground, api, key);
    if (status !== 401) tell(`${REVOKED_MS} ms later the revoked key was answered ${status} by API ${api + 1}`);
  }
}
