import { expect, it } from '@jest/globals';
import type { Status, Trigger } from '@yardmaster/protocol';
import { withRedis } from '../../support/own-redis.js';
import { TestStores } from '../play/test-store.js';
import { SETTINGS, takeTours } from './bind.js';
import { explore, NONE_LATE, ONE, type PromiseName, SMALL, TWO, toursToTake } from './explore.js';
import { type Life, RULES, type Rules } from './machine.js';

// Every state of a small machine is reached, and promises are checked in each. The machine must be the store: on tours through
// its states, the scripts must reply and change as it does. With MODEL_SEQUENCES, see ../model.test.ts, there are more states,
// and all tours are taken.

const isLong = process.env.MODEL_SEQUENCES !== undefined;

it('all promises hold in every state that one job can reach', () => {
  expect(explore(ONE).size).toBeGreaterThan(5_000);
  expect(explore({ ...ONE, creates: 3, returns: isLong ? 2 : 1 }).size).toBeGreaterThan(2_500);
});

it('all promises hold in every state that two jobs with the same unique key can reach', () => {
  expect(explore({ ...TWO, creates: isLong ? 3 : 2 }, NONE_LATE).size).toBeGreaterThan(3_000);
});

const without = (trigger: Trigger) => RULES.transitions.filter((row) => row.trigger !== trigger);
const fromAlso = (trigger: Trigger, ...others: Status[]) =>
  RULES.transitions.map((row) => (row.trigger === trigger ? { ...row, from: [...row.from, ...others] } : row));

/** Replace a part of a token, 0 for the attempts, 1 for the returns, 2 for the order. */
const withPart = (token: string, part: number, value: number) => token.split('.').with(part, `${value}`).join('.');
const withoutReturn = (trigger: Trigger): Partial<Rules> => ({
  counters: {
    ...RULES.counters,
    [trigger]: (life: Life, to: Status) => ({ ...RULES.counters[trigger]?.(life, to), returns: life.returns }),
  },
});

const FAULTS: readonly [fault: string, broken: PromiseName, rules: Partial<Rules>][] = [
  [
    'tokens lack the order of the create',
    'only the worker that has a job changes it',
    {
      tokenOf: (life) => withPart(RULES.tokenOf(life), 2, 0),
      deliveryOf: (life, token) => RULES.deliveryOf(life, withPart(token, 2, life.order)),
    },
  ],
  [
    'the fence ignores returns',
    'only the worker that has a job changes it',
    { deliveryOf: (life, token) => RULES.deliveryOf(life, withPart(token, 1, life.returns)) },
  ],
  [
    'the fence takes each earlier delivery for the current one',
    'only the worker that has a job changes it',
    { deliveryOf: (life, token) => (RULES.deliveryOf(life, token) === 'unknown' ? 'unknown' : 'current') },
  ],
  [
    'a delivery timeout does not count as a return',
    'only the worker that has a job changes it',
    withoutReturn('delivery_timeout'),
  ],
  ['a release does not count as a return', 'only the worker that has a job changes it', withoutReturn('release')],
  ['a requeue does not count as a return', 'only the worker that has a job changes it', withoutReturn('requeue')],
  [
    'a job can be completed whatever its status',
    'only the worker that has a job changes it',
    { transitions: fromAlso('complete', 'pending', 'scheduled') },
  ],
  [
    'an ack is not recognized when it comes again',
    'a token gets the reply of the specification',
    { isDone: (verb) => verb === 'complete' },
  ],
  [
    'the attempt of a released job stays counted',
    'a job has at most maxRetries + 1 attempts',
    { counters: { ...RULES.counters, release: ({ returns }) => ({ returns: returns + 1 }) } },
  ],
  [
    'retries do not end',
    'a job has at most maxRetries + 1 attempts',
    { holds: { ...RULES.holds, 'retries remain': () => true, 'no retries remain': () => false } },
  ],
  [
    'deliveries that time out do not end',
    'a job whose deliveries all time out is dead',
    { holds: { ...RULES.holds, 'deliveries remain': () => true } },
  ],
  [
    'a delivered job has no timer',
    'a timer or a claim moves each job on',
    { transitions: without('delivery_timeout') },
  ],
  ['a running job has no timer', 'a timer or a claim moves each job on', { transitions: without('execution_timeout') }],
  [
    'a completed job can be requeued',
    'a result stays as long as its job',
    { transitions: fromAlso('requeue', 'completed') },
  ],
  ['a job that is open can be purged', 'an open job is never lost', { canBeRemoved: () => true }],
  ['a create does not look for its job', 'an open job is never lost', { isReplay: () => false }],
  ['a create does not look at the unique key', 'only one open job has a unique key', { isOccupied: () => false }],
  [
    'a requeue does not take the unique key',
    'only one open job has a unique key',
    { holderAfterRequeue: (holder) => holder },
  ],
  ['the end of a job frees the unique key of another one', 'only one open job has a unique key', { freed: () => null }],
];

it.each(FAULTS)('the exploration notices if %s', (_fault, broken, rules) => {
  const isOfKey = broken === 'only one open job has a unique key';
  const tryAll = () => explore(isOfKey ? TWO : SMALL, { ...(isOfKey ? NONE_LATE : RULES), ...rules }, [broken]);
  expect(tryAll).toThrow(broken);
});

const redis = withRedis({ appendonly: 'no' });

it('the store replies and changes like the machine on tours through its states', async () => {
  const testStores = new TestStores(redis);
  const testStore = await testStores.open(SETTINGS, false);
  await takeTours(testStore, toursToTake(isLong));
  await testStore.close();
  testStores.disconnect();
}, 3_600_000);
