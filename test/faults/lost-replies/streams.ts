import { CLOSE_CODES } from '@yardmaster/protocol';
import type { StreamClient } from '../../support/stream-client.js';
import { until } from '../../support/until.js';
import type { Ground } from '../fault.js';
import type { Operation } from '../history.js';
import { BUSY_MS } from '../revocation.js';
import { ANSWER_MS } from '../rules/answers.js';
import { runsOrSends } from '../scripts.js';
import { ask } from './asked.js';
import { makeKey, type TrialKey } from './keys.js';
import { type Loss, type LostReply, lieInWait, loserOf, OTHER, type Trial, teller } from './lost-reply.js';
import { type Opened, open, recordStream, type StreamRequest } from './opened.js';
import { isReady } from './serving.js';
import { bring, CLIENT, type Subject } from './subject.js';

/** What happens to the job of a stream once it is open. */
const LIFE: readonly [op: Operation, sent?: unknown][] = [
  ['claim'],
  ['ack'],
  ['complete', { result: { token: 'told to its streams' } }],
];

/** Until a stream has made good what it missed: longer than a gateway tries. */
const TOLD_MS = 15_000;

/** Between two looks whether the keys of open streams are good, and some more. */
const RECHECK_MS = 6_000;

/** So long a revocation may take that was announced. */
const REVOKED_MS = 1_000;

/** A reply that keeps a stream from being opened. */
interface Opening extends StreamRequest {
  runs: string;
  isLater?: true;
  /** With a key that the gateway has to read first. */
  isKeyUnknown?: true;
  /** What the command names. */
  about: 'job' | 'key' | 'nothing';
  /** Whether it may be opened all the same, since whoever lost it asks again by itself. */
  mayOpen?: true;
}

const OPENINGS: readonly Opening[] = [
  { of: 'job', runs: 'snapshot', about: 'job' },
  { of: 'space', runs: 'time', about: 'nothing' },
  { of: 'job', runs: 'hget', about: 'key', isKeyUnknown: true },
  { of: 'job', runs: 'subscribe', about: 'job', isLater: true, mayOpen: true },
];

/** Every reply that a gateway waits for. */
export const LOST_STREAMS: readonly LostReply[] = [
  ...OPENINGS.map(
    (row): LostReply => ({
      endpoint: `stream of a ${row.of}`,
      runs: row.runs,
      at: 'gateway',
      ...(row.isLater && { isLater: true }),
      begin: (ground, n, loss) => beginOpening(ground, row, { n, loss }),
    }),
  ),
  { endpoint: 'stream of a job', runs: 'since', at: 'gateway', isLater: true, begin: beginRepair },
  { endpoint: 'keys of streams', runs: 'hmget', at: 'gateway', isLater: true, begin: beginRecheck },
];

async function beginOpening(ground: Ground, row: Opening, { n, loss }: { n: number; loss: Loss }): Promise<Trial> {
  const { of, runs } = row;
  const subject = await bring(ground, { before: [] }, n);
  const unknown = row.isKeyUnknown && (await makeKey(ground, n));
  const request = { of, ...(unknown && { key: unknown.text }) };
  const about = { job: subject.jobId as string, key: unknown ? unknown.id : '', nothing: '' }[row.about];
  const lost = lieInWait(ground, 'gateway', { to: runsOrSends(runs, about), loss });
  const tell = teller(ground, { endpoint: `stream of a ${of}`, runs });
  let first: Opened;
  return {
    async send() {
      first = await open(ground, subject, request);
    },
    async judge() {
      const { jobId } = subject;
      lost.disarm();
      if (lost.at === null) tell('no reply was lost', { jobId });
      const { status, tookMs, stream } = first;
      if (status !== 503 && !(row.mayOpen && status === 101)) tell(`answered ${status}`, { jobId });
      if (tookMs > ANSWER_MS) tell(`answered only after ${tookMs} ms`, { jobId });
      const again = await open(ground, subject, request);
      if (again.status !== 101) tell(`the same again was answered ${again.status}`, { jobId });
      await live(ground, subject);
      for (const one of status === 101 ? [stream, again.stream] : [again.stream]) {
        await wasTold(one);
        await recordStream(ground, subject, { stream: one, of });
      }
    },
  };
}

/** A stream reads what it missed while its channel was not heard; that reply is lost. */
async function beginRepair(ground: Ground, n: number, loss: Loss): Promise<Trial> {
  const subject = await bring(ground, { before: [] }, n);
  const { jobId } = subject;
  const { stream } = await open(ground, subject, { of: 'job' });
  const lost = lieInWait(ground, 'gateway', { to: runsOrSends('since', jobId as string), loss });
  const tell = teller(ground, { endpoint: 'stream of a job', runs: 'since' });
  return {
    async send() {
      await ground.installation.connection.call('CLIENT', 'KILL', 'TYPE', 'pubsub');
      await live(ground, subject);
      await until(() => lost.at !== null, TOLD_MS).catch(() => tell('no reply was lost', { jobId }));
    },
    async judge() {
      lost.disarm();
      await wasTold(stream);
      if (!isWhole(stream) && stream.closed?.code !== CLOSE_CODES.interrupted)
        tell(`it told ${stream.types()} and was closed with ${stream.closed?.code}`, { jobId });
      await recordStream(ground, subject, { stream, of: 'job' });
    },
  };
}

/** A gateway asks whether the keys of its streams are still good, and is not told. */
async function beginRecheck(ground: Ground, n: number, loss: Loss): Promise<Trial> {
  const subject = await bring(ground, { before: [] }, n);
  const key: TrialKey = await makeKey(ground, n);
  const { stream } = await open(ground, subject, { of: 'job', key: key.text });
  const gateway = loserOf(ground, 'gateway');
  const lost = lieInWait(ground, 'gateway', { to: runsOrSends('hmget', key.id), loss });
  const tell = teller(ground, { endpoint: 'keys of streams', runs: 'hmget' });
  return {
    async send() {
      await until(() => lost.at !== null, RECHECK_MS).catch(() => tell('no reply was lost'));
    },
    async judge() {
      lost.disarm();
      await isReady(gateway.url);
      await live(ground, subject);
      await wasTold(stream);
      if (!isWhole(stream)) tell(`the stream told ${stream.types()} and was closed with ${stream.closed?.code}`);
      await recordStream(ground, subject, { stream, of: 'job' });

      const other = await open(ground, subject, { of: 'space', key: key.text });
      await ask(ground, OTHER, { method: 'DELETE', path: `/keys/${key.id}` });
      await until(() => other.stream.closed !== null, REVOKED_MS + BUSY_MS).catch(() => undefined);
      if (other.stream.closed?.code !== CLOSE_CODES.keyRevoked)
        tell(`after the revocation a stream was closed with ${other.stream.closed?.code}`);
      await recordStream(ground, subject, { stream: other.stream, of: 'space' });
    },
  };
}

async function live({ call }: Ground, { jobId }: Subject): Promise<void> {
  for (const [op, sent] of LIFE) await call({ client: CLIENT, op, jobId: jobId as string, sent, api: OTHER });
}

const isWhole = (stream: StreamClient) => stream.types().includes('completed');

/** Wait until a stream has told the end of its job, or has ended itself. */
const wasTold = (stream: StreamClient) =>
  until(() => isWhole(stream) || stream.closed !== null, TOLD_MS).catch(() => undefined);
