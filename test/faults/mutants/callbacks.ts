import { SCRIPTS } from '../release.js';
import type { Mutant } from './mutant.js';

const STORE = 'packages/store/dist';
const SCHEDULER = 'apps/scheduler/dist';

/** What is wrong with how callbacks are owed and sent. */
export const OF_CALLBACKS: readonly Mutant[] = [
  {
    title: 'the debt of a callback is written after the script that ends the job',
    breaks: ['P6', 'P16'],
    edits: [
      { file: SCRIPTS, from: 'if stored(callbackUrl) then owe(found, now) end\n', to: '' },
      {
        file: `${STORE}/attempt.js`,
        from: "store.observer.moved('running', 'completed', 1);",
        to: `if (await store.redis.hexists(store.keys.job(jobId), 'callbackUrl'))
        await store.redis.zadd(store.keys.callbacks(jobId.slice(0, 2)), Date.now(), jobId);
    store.observer.moved('running', 'completed', 1);`,
      },
    ],
    loses: ['complete'],
  },
  {
    title: 'a callback that did not get through is not sent again',
    breaks: ['P6'],
    edits: [
      {
        file: `${SCHEDULER}/callbacks/retries.js`,
        from: '|| !isWorthRetrying(answer)',
        to: '|| answer',
      },
    ],
  },
  {
    title: 'a callback that did not get through is sent again at once',
    breaks: ['P6'],
    edits: [{ file: `${SCHEDULER}/callbacks/retries.js`, from: 'seconds * 1000 * (', to: 'seconds * 10 * (' }],
  },
  {
    title: 'callbacks are owed only to those who hear of it at once',
    breaks: ['P6'],
    under: 'F19',
    edits: [{ file: `${SCHEDULER}/sweeper.js`, from: 'due.callbacks.forEach(wake);', to: '' }],
  },
  {
    title: 'a scheduler that is told to stop leaves the callbacks that it is sending',
    breaks: ['P6'],
    under: 'F25',
    edits: [{ file: `${SCHEDULER}/callbacks/callbacks.js`, from: 'await desk.close();', to: '' }],
  },
  {
    title: "an attempt at a callback is nobody's",
    breaks: ['P6'],
    under: 'F28',
    edits: [
      {
        file: SCRIPTS,
        from: "if callback.leasedUntil > now then return { 'NOT_DUE', math.min(callback.leasedUntil - now, tonumber(patienceMs)) } end",
        to: '',
      },
      { file: SCRIPTS, from: 'putOff(found, lease)\n', to: '' },
    ],
  },
  {
    title: 'schedulers rely on the alarms that they have set',
    breaks: ['P6'],
    under: 'F29',
    edits: [
      { file: `${STORE}/callbacks.js`, from: 'AGAIN_MS = 4_000;', to: 'AGAIN_MS = 4_000_000;' },
      { file: `${STORE}/callbacks.js`, from: 'AGAIN_AT_MOST_MS = 300_000;', to: 'AGAIN_AT_MOST_MS = 4_000_000;' },
    ],
  },
];
