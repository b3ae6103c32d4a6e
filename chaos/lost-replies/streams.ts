import { CLOSE_CODES } from '@yardmaster/protocol';
import { StreamClient } from '../../test/support/stream-client.js';
import { until } from '../../test/support/until.js';
import { runsOrSends } from '../installation/scripts.js';
import { REVOKED_MS, SLOW_MS } from '../load/key-use.js';
import type { Step } from '../load/own-jobs.js';
import type { FaultContext } from '../runs/fault.js';
import { bring, CLIENT, makeKey, type Subject } from './subject.js';
import { callApi, isReady, type LostReply, loseReply, loserOf, OTHER } from './trial.js';

/** Calls for the job of a stream once the stream is open. */
const STEPS: readonly Step[] = [['claim'], ['ack'], ['complete', { result: { token: 'seen by its streams' } }]];
const SEEN_MS = 30_000; // Maximum time until a stream has all messages. A gateway gives up earlier.
const REFUSED = /^Unexpected server response: (\d+)$/;

/** Open the stream of a job or its space. */
async function open(context: FaultContext, of: Subject, scope: 'full' | 'space', key = context.installation.key) {
  const { installation, history } = context;
  const { url, name: gateway } = installation.gateways[0] as { url: string; name: string };
  const subject = scope === 'full' ? { jobId: of.jobId, spaceId: null } : { jobId: null, spaceId: of.spaceId };
  const from = Date.now();
  const path = scope === 'full' ? `/${of.jobId}` : `/spaces/${of.spaceId}`;
  const stream = StreamClient.connect(url, `${path}?token=${key}`);
  let refusal: number | null = null;
  stream.ws.on('error', ({ message }) => {
    refusal = Number(REFUSED.exec(message)?.[1] ?? 0);
  });
  await until(() => refusal !== null || stream.messages.length > 0 || stream.closed !== null, SEEN_MS);
  const during = { from, until: Date.now() };
  const isWhole = () => stream.types().includes('completed');
  return {
    stream,
    status: refusal ?? 101, // 101 once its init has arrived.
    during,
    code: () => stream.closed?.code,
    says: () => `it sent ${stream.types()} and was closed with ${stream.closed?.code}`,
    isWhole,
    /** Wait until the stream has sent the end of its job, or is closed. */
    ended: () => until(() => isWhole() || stream.closed !== null, SEEN_MS).catch(() => undefined),
    /** Add the messages of the stream to the history, so that the rules check them, and close the stream. */
    async record(): Promise<void> {
      const messages = [...stream.messages];
      const opened = { gateway, openedAt: Date.parse(messages[0]?.timestamp), messages };
      const closed = { closed: stream.closed?.code ?? null, until: null }; // Its trial checks how it was closed.
      history.add({ kind: 'stream', client: 'lost-stream', scope, ...subject, ...opened, ...closed });
      await stream.close();
    },
  };
}

async function finish({ call }: FaultContext, { jobId }: Subject): Promise<void> {
  for (const [op, sent] of STEPS) await call({ client: CLIENT, op, jobId: jobId as string, sent, api: OTHER });
}

/** A reply that is needed to open a stream. */
interface Opening {
  of: 'job' | 'space';
  runs: string;
  about: 'job' | 'key' | 'nothing'; // What the command's ID names. `key`: a new key, which the gateway must read first.
  mayOpen?: boolean; // The stream may open anyway, because the process retries the command.
}

const OPENINGS: readonly Opening[] = [
  { of: 'job', runs: 'snapshot', about: 'job' },
  { of: 'space', runs: 'time', about: 'nothing' },
  { of: 'job', runs: 'hget', about: 'key' },
  { of: 'job', runs: 'subscribe', about: 'job', mayOpen: true },
];

const opening = ({ of, runs, about, mayOpen = false }: Opening): LostReply => ({
  ...{ endpoint: `stream of a ${of}`, runs, at: 'gateway', isLater: mayOpen },
  async begin(context, n, loss) {
    const subject = await bring(context, { before: [] }, n);
    const key = await makeKey(context, n);
    const openOne = () =>
      open(context, subject, of === 'job' ? 'full' : 'space', about === 'key' ? key.text : undefined);
    const named = { job: subject.jobId as string, key: key.id, nothing: '' }[about];
    const { must, mustBeInTime, over } = loseReply(context, this, subject.jobId, loss, runsOrSends(runs, named));
    let first: Awaited<ReturnType<typeof open>>;
    return {
      async send() {
        first = await openOne();
      },
      async check() {
        over();
        const isOpen = first.status === 101;
        must(first.status === 503 || (isOpen && mayOpen), `opening returned ${first.status}`);
        mustBeInTime(first.during);
        const again = await openOne();
        must(again.status === 101, `opening again returned ${again.status}`);
        await finish(context, subject);
        for (const one of isOpen ? [first, again] : [again]) {
          await one.ended();
          await one.record();
        }
      },
    };
  },
});

/** The reply with events that a stream missed while its channel was lost. */
const repair: LostReply = {
  ...{ endpoint: 'stream of a job', runs: 'since', at: 'gateway', isLater: true },
  async begin(context, n, loss) {
    const subject = await bring(context, { before: [] }, n);
    const stream = await open(context, subject, 'full');
    const matches = runsOrSends('since', subject.jobId as string);
    const { must, over, wait } = loseReply(context, repair, subject.jobId, loss, matches);
    return {
      async send() {
        await context.installation.connection.call('CLIENT', 'KILL', 'TYPE', 'pubsub');
        await finish(context, subject);
        await wait();
      },
      async check() {
        over(stream.says());
        await stream.ended();
        must(stream.isWhole() || stream.code() === CLOSE_CODES.interrupted, stream.says());
        await stream.record();
      },
    };
  },
};

/** The reply when a gateway checks the keys of its streams. */
const recheck: LostReply = {
  ...{ endpoint: 'keys of streams', runs: 'hmget', at: 'gateway', isLater: true },
  async begin(context, n, loss) {
    const subject = await bring(context, { before: [] }, n);
    const key = await makeKey(context, n);
    const stream = await open(context, subject, 'full', key.text);
    const { must, mustBeInTime, over, wait } = loseReply(
      context,
      recheck,
      subject.jobId,
      loss,
      runsOrSends('hmget', key.id),
    );
    return {
      send: wait,
      async check() {
        over();
        await isReady(loserOf(context, 'gateway').url);
        await finish(context, subject);
        await stream.ended();
        must(stream.isWhole(), stream.says());
        await stream.record();

        const other = await open(context, subject, 'space', key.text);
        await callApi(context, OTHER, { method: 'DELETE', path: `/keys/${key.id}` });
        const from = Date.now();
        await until(() => other.stream.closed !== null, SEEN_MS).catch(() => undefined);
        mustBeInTime({ from, until: Date.now() }, REVOKED_MS + SLOW_MS);
        must(other.code() === CLOSE_CODES.keyRevoked, `the stream of a revoked key: ${other.says()}`);
        await other.record();
      },
    };
  },
};

/** Every reply that a gateway waits for. */
export const LOST_STREAMS: readonly LostReply[] = [...OPENINGS.map(opening), repair, recheck];
