import { SCRIPTS } from '../release.js';
import type { Mutant } from './mutant.js';

const STORE = 'packages/store/dist';

/** What is wrong with how jobs are handed out, worked on and ended. */
export const OF_JOBS: readonly Mutant[] = [
  {
    title: 'complete does not look whether the job runs',
    breaks: ['P3'],
    edits: [
      {
        file: SCRIPTS,
        from: `if found.status ~= 'running' then return { 'JOB_NOT_RUNNING', found.status } end
local now, at = nowMs()
moveStatus(found, 'completed')`,
        to: `local now, at = nowMs()
moveStatus(found, 'completed')`,
      },
    ],
  },
  {
    title: 'poll leaves in the queue what it hands out',
    breaks: ['P2'],
    edits: [
      {
        file: SCRIPTS,
        from: "return redis.call('ZPOPMIN', queue)[1]",
        to: "return redis.call('ZRANGE', queue, 0, 0)[1]",
      },
      { file: SCRIPTS, from: "redis.call('ZREM', taken.key, taken.id)", to: '' },
      { file: SCRIPTS, from: "if found.status == 'pending' then --", to: 'if found.status then --' },
    ],
  },
  {
    title: 'the deadline of a job that is handed out is written after the script',
    breaks: ['P4', 'P16'],
    edits: [
      {
        file: SCRIPTS,
        from: "redis.call('ZADD', job.base .. 'deadlines', digits(now + deliveryTimeoutMs), job.id)",
        to: '',
      },
      {
        file: `${STORE}/claim.js`,
        from: 'const jobs = reply.slice(1).map(claimedJobOf);',
        to: `const jobs = reply.slice(1).map(claimedJobOf);
    for (const { id } of jobs)
        await store.redis.zadd(store.keys.deadlines(id.slice(0, 2)), Date.now() + deliveryTimeoutMs, id);`,
      },
    ],
    loses: ['poll'],
  },
  {
    title: 'a job is retried once more than it may be',
    breaks: ['P3'],
    edits: [
      {
        file: SCRIPTS,
        from: 'if tonumber(job.attempt) <= tonumber(job.maxRetries) then',
        to: 'if tonumber(job.attempt) <= tonumber(job.maxRetries) + 1 then',
      },
    ],
  },
  {
    title: 'the delivery window ends early',
    breaks: ['P4'],
    edits: [
      { file: SCRIPTS, from: 'digits(now + deliveryTimeoutMs)', to: 'digits(now + math.floor(deliveryTimeoutMs / 4))' },
    ],
  },
  {
    title: 'a poll tells of one job of all that it delivers',
    breaks: ['P3'],
    edits: [
      {
        file: `${STORE}/claim.js`,
        from: 'reply.slice(1).map(claimedJobOf)',
        to: 'reply.slice(1, 2).map(claimedJobOf)',
      },
    ],
  },
  {
    title: 'a completed job keeps no result',
    breaks: ['P3'],
    edits: [
      {
        file: SCRIPTS,
        from: "record(found, at, 'completed', 'completed', result, eventsPerJob, 'result', result)",
        to: "record(found, at, 'completed', 'completed', result, eventsPerJob, 'result', 'null')",
      },
    ],
  },
  {
    title: 'a worker is not handed the checkpoint of the attempt before',
    breaks: ['P3'],
    edits: [{ file: SCRIPTS, from: 'job.order, payload, checkpoint }', to: 'job.order, payload, false }' }],
  },
  {
    title: 'a poll is handed jobs of any name',
    breaks: ['P3'],
    edits: [{ file: `${STORE}/claim.js`, from: 'rest: names,', to: 'rest: [],' }],
  },
  {
    title: 'the newest job is handed out first',
    breaks: ['P3'],
    edits: [{ file: SCRIPTS, from: "redis.call('ZPOPMIN', queue)[1]", to: "redis.call('ZPOPMAX', queue)[1]" }],
  },
];
