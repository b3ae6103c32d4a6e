import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { ROUTES } from '@yardmaster/api';
import { Random } from '../../test/support/random.js';
import { until } from '../../test/support/until.js';
import { History } from '../checker/history.js';
import type { AppProcess } from '../installation/app-process.js';
import { startInstallation } from '../installation/installation.js';
import { nameOfCommand, scriptNames } from '../installation/scripts.js';
import { createClients } from '../load/client.js';
import { nextNumber } from '../load/own-jobs.js';
import { startReceivers } from '../load/receivers.js';
import type { FaultContext } from '../runs/fault.js';
import { LOST_CALLS, LOST_KEY_READS } from './calls.js';
import { PERIODIC } from './rows.js';
import { LOST_SCHEDULER_REPLIES, LOST_SCRAPES, loseSchedulerReplies } from './scheduler.js';
import { LOST_STREAMS } from './streams.js';
import { type LostReply, loserOf } from './trial.js';

// Every reply that a process waits for has a row in the tables of fault F12. These tests make every call in the tables without a
// fault, and observe which scripts and commands the processes send.

/** Commands of connections, periodic commands such as the flush of counts, and commands whose reply no caller awaits. */
const OF_CONNECTIONS =
  /^(add_history|hello|auth|client|select|info|ping|config|cluster|script|unsubscribe|sunsubscribe)$/;

/** Scripts whose replies no call needs: entries of the audit (test/api/audit.test.ts), and uses of keys once a minute. */
const OF_NO_CALL = ['append_act', 'record_uses'];

/** Scripts whose replies these faults need not lose. */
const EXCEPTIONS = [
  ...OF_NO_CALL,
  // Scripts of `yardmaster fsck`, which an operator can stop at any time and restart.
  ...['check_acts', 'check_api_keys', 'check_entries', 'check_jobs', 'check_names', 'check_operation', 'check_orphan'],
  'check_schedule',
  ...[
    'check_paused',
    'check_recount',
    'check_spaces',
    'check_sum',
    'check_unique_entries',
    'count_jobs',
    'count_names',
  ],
  // Steps that the next sweep repeats: after a step of the clock of Redis, for paused names (test/store/pauses.test.ts), for
  // the bytes of spaces (test/spaces/bytes.thorough.ts).
  ...['reopen_windows', 'mark_step', 'requeue_resumed', 'recount'],
  // Scripts for several jobs and for operations. test/resilience loses their replies (batch.test.ts, operations.test.ts).
  'group',
  ...['cancel_operation', 'read_operations', 'read_texts', 'start_operation', 'step_operation'],
  // Scripts of schedules. A run that is sent late, twice or never: test/schedules/model.thorough.ts. A repeated put changes nothing.
  ...['change_schedules', 'due_schedules', 'read_schedules', 'run_schedules'],
  // The flush of counts, which no caller awaits: test/history/flush.thorough.ts.
  'add_history',
];

/** Check whether a command only serves the audit of a call. */
const isOfAudit = (words: string[]) =>
  OF_NO_CALL.includes(nameOfCommand(words)) || (words[0] === 'hget' && words.at(-1) === 'state');

let context: FaultContext;
let stop: () => Promise<unknown>;
beforeAll(async () => {
  const installation = await startInstallation({ schedulers: 1 });
  const history = new History();
  const clients = createClients(installation, history);
  const receivers = await startReceivers();
  const load = { callbackUrl: receivers.urlFor } as FaultContext['load'];
  const stalls = { between: () => 0, stop: () => undefined };
  const found = (says: string) => expect(says).toBe('');
  const none = () => undefined;
  const shared = { installation, history, load, stalls, random: new Random(1), figures: {} };
  context = { ...shared, call: clients.call, found, affects: none, atEnd: none };
  stop = () => Promise.all([clients.close(), receivers.close(), installation.stop()]);
}, 120_000);
afterAll(() => stop(), 60_000);

/** Check whether a command belongs to the watch of settings, which retries failed reads. */
const isOfSettings = ([name, key = '', field]: string[]) =>
  key.endsWith('{settings}:changed') || (key.endsWith('}:settings') && (name === 'hgetall' || field === ''));

/** Return the names of the commands that a process sends to Redis during an action. */
async function commandsOf({ proxy }: AppProcess, act: () => Promise<unknown>): Promise<string[]> {
  const seen = new Set<string>();
  const note = (words: string[]) => {
    if (isOfSettings(words)) return false;
    const isBullMq = words.some((word) => word.includes('{bull}'));
    const name = isBullMq ? 'bullmq' : nameOfCommand(words);
    if (!OF_CONNECTIONS.test(name) && !isOfAudit(words)) seen.add(name);
    return false;
  };
  const observer = proxy.intercept(note, { action: 'observe' });
  await act();
  observer.cancel();
  return [...seen];
}

/** Return the names of the commands caused by the requests of some rows. A periodic TIME counts only if a row expects it. */
async function commandsOfRows(rows: readonly LostReply[]): Promise<string[]> {
  const seen: string[] = [];
  for (const row of rows) {
    const trial = await row.begin(context, nextNumber(), 'observe');
    seen.push(...(await commandsOf(loserOf(context, row.at), () => trial.send())));
  }
  const expected = repliesOf(rows);
  return sorted(seen.filter((name) => name !== PERIODIC || expected.includes(name)));
}

const sorted = (names: Iterable<string>) => [...new Set(names)].sort();
const ofScheduler = LOST_SCHEDULER_REPLIES.map(([, runs]) => runs);
const repliesOf = (rows: readonly LostReply[]) => rows.flatMap(({ runs, beside = runs }) => [runs, beside]);

const operations = ROUTES.map(({ operation }) => operation);
it.each(operations)('the lost-replies suite loses exactly the replies that %s waits for', async (operation) => {
  const rows = LOST_CALLS.filter(({ endpoint }) => endpoint === operation);
  const keyed = LOST_KEY_READS.filter(({ endpoint }) => endpoint === operation);
  const seen = await commandsOfRows(rows);
  expect(seen).toEqual(sorted(repliesOf(rows)));
  const withNewKey = await commandsOfRows(keyed);
  expect(sorted([...seen, ...withNewKey])).toEqual(sorted(repliesOf([...rows, ...keyed])));
});

it('the lost-replies suite loses every reply that a gateway waits for', async () => {
  expect(await commandsOfRows(LOST_STREAMS)).toEqual(sorted(repliesOf(LOST_STREAMS)));
}, 60_000);

it('the lost-replies suite loses every reply that a scheduler waits for', async () => {
  const [scheduler] = context.installation.schedulers as [AppProcess];
  const seen = await commandsOf(scheduler, async () => {
    await loseSchedulerReplies(context, 'observe');
    await until(async () => (await fetch(`${scheduler.url}/metrics`)).ok);
  });
  // A scrape reads the head of a queue only while a job is pending. Its error is handled like the others.
  const always = seen.filter((name) => name !== 'hget' && name !== 'hkeys');
  expect(sorted(always)).toEqual(sorted([...ofScheduler, ...LOST_SCRAPES]));
}, 120_000);

it('the lost-replies suite loses the reply of every script that is not on a list of exceptions', () => {
  const lost = [...repliesOf([...LOST_CALLS, ...LOST_STREAMS]), ...ofScheduler];
  expect(
    scriptNames()
      .filter((script) => !lost.includes(script))
      .sort(),
  ).toEqual(EXCEPTIONS.sort());
});
