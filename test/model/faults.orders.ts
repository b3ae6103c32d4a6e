import { expect, it } from '@jest/globals';
import { withRedis } from '../support/own-redis.js';
import { playOnce, playSeed } from './play/play.js';
import { TestStores } from './play/test-store.js';
import { SETTINGS, takeTours } from './states/bind.js';
import { toursToTake } from './states/explore.js';

// Deliberate faults in the scripts: each is a text, and what replaces it. The tours of the machine of states/ that npm test
// takes, or one of the first 300 orders, must show each.

const SEEDS = 300;

const FAULTS: Record<string, [text: string, faulty: string]> = {
  'a token of a removed job fits a later one': ["if order ~= job.order then return 'unknown' end", ''],
  'a token from before a return is current': ['if returns < tonumber(job.returns) then', 'if false then'],
  'a delivery timeout does not count as a return': ['order)\n  job.returns = nextOf(job.returns)', 'order)'],
  'a release does not count as a return': [
    'previousOf(attempt), nextOf(job.returns)',
    'previousOf(attempt), job.returns',
  ],
  'a requeue does not count as a return': ["'0', nextOf(job.returns), false", "'0', job.returns, false"],
  'a released attempt is counted': [
    'job.attempt, job.returns = previousOf(attempt)',
    'job.attempt, job.returns = attempt',
  ],
  'a job can be completed whatever its status': [
    "if job.status ~= 'running' then return { 'JOB_NOT_RUNNING', job.status } end\nmoveToStatusIndex(job, 'completed')",
    "moveToStatusIndex(job, 'completed')",
  ],
  'a completed job can be killed': [
    "if job.status == 'completed' or job.status == 'dead' then return { 'JOB_ENDED'",
    "if job.status == 'dead' then return { 'JOB_ENDED'",
  ],
  'retries do not end': ['if tonumber(job.attempt) > tonumber(job.maxRetries) then', 'if false then'],
  'deliveries that time out do not end': ['if count >= ', 'if false and count >= '],
  'an ack does not end a row of delivery timeouts': ["redis.call('HDEL', job.key, 'deliveryTimeouts')", ''],
  'a delivered job has no window': ['openWindow(job, nowMs, deliveryMs(job, ackWithinMs))', ''],
  'a window ends a millisecond early': ["'(' .. formatInteger(before)", 'formatInteger(before)'],
  'a create does not look for its job': ["if v[1] then return { 'REPLAYED', valuesOf(job.key, shown) } end", ''],
  'a create does not look at the unique key': [
    'if job.unique then other, isOccupied = uniqueHolder',
    'if false then other, isOccupied = uniqueHolder',
  ],
  'a requeue does not take the unique key': ['occupyUnique(job, unique, other)\nend', 'end'],
  'the end of a job frees the unique key of another one': [
    "and redis.call('HGET', index, field) == job.id then",
    'then',
  ],
  'a poll leaves the job in the queue of its name': ["leave(names[1] and queue or queue .. '/' .. job.name, id)", ''],
  'a claim leaves the job in the queue of its space': [
    "local queue = job.base .. 'space:' .. job.space .. '/queue'\n  leave(queue, job.id)",
    "local queue = job.base .. 'space:' .. job.space .. '/queue'",
  ],
  'a purge leaves the job in its list': ["leave(space .. '/jobs', job.id)", ''],
};

const redis = withRedis({ 'auto-aof-rewrite-min-size': '1mb' });

const HOW = { atOnce: false, drawn: new Set<string>() };

/** Return the first seed whose sequence shows a fault, and the fault; null without one. */
async function failingSeed(testStores: TestStores): Promise<{ seed: number; fault: string } | null> {
  for (let seed = 1; seed <= SEEDS; seed++) {
    const { fault } = await playOnce(testStores, seed, HOW);
    if (fault !== null) return { seed, fault };
  }
  return null;
}

/** Connect to stores with a fault. @param see called with each script */
async function storesWith([text, faulty]: [string, string], see = (_script: string) => {}): Promise<TestStores> {
  const testStores = new TestStores(redis, (script) => {
    see(script);
    return script.replace(text, () => faulty);
  });
  await testStores.forgetScripts();
  return testStores;
}

it.each(Object.entries(FAULTS))(
  'tours or seeds notice if %s',
  async (_fault, [text, faulty]) => {
    let isInScript = false;
    const testStores = await storesWith([text, faulty], (script) => {
      isInScript ||= script.includes(text);
    });
    const testStore = await testStores.open(SETTINGS, false);
    const difference = await takeTours(testStore, toursToTake(false)).catch((error: Error) => error.message);
    await testStore.close();
    const fault = difference ?? (await failingSeed(testStores))?.fault;
    testStores.disconnect();
    // An error of the script would show nothing.
    expect({ isInScript, fault }).toEqual({ isInScript: true, fault: expect.not.stringContaining('user_script') });
  },
  600_000,
);

it('a failed seed says in its first line how to repeat it', async () => {
  const testStores = await storesWith(FAULTS['a purge leaves the job in its list'] as [string, string]);
  const failing = await failingSeed(testStores);
  const repeat = `MODEL_SEED=${failing?.seed} npm test -- test/model/model\n`;
  await expect(playSeed(testStores, failing?.seed ?? 0, HOW)).rejects.toThrow(repeat);
  testStores.disconnect();
}, 600_000);
