import { SCRIPTS } from '../release.js';
import type { Mutant } from './mutant.js';

const STORE = 'packages/store/dist';
const BACKEND = 'packages/backend/dist';
const GATEWAY = 'apps/gateway/dist';
const SCHEDULER = 'apps/scheduler/dist';
const OPTIONS = 'packages/runtime/dist/redis/options.js';

/** What must not go unseen. Under each of them the suite has to fail, and to say which promise is broken. */
export const MUTANTS: readonly Mutant[] = [
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
    title: 'what has no answer is sent again',
    breaks: ['P3'],
    edits: [
      {
        file: OPTIONS,
        from: 'maxRetriesPerRequest: 0,\n        autoResendUnfulfilledCommands: false,',
        to: 'maxRetriesPerRequest: 20,\n        autoResendUnfulfilledCommands: true,',
      },
    ],
    loses: ['heartbeat'],
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
    title: 'watchers are not told of some events',
    breaks: ['P8'],
    edits: [
      {
        file: SCRIPTS,
        from: 'publish(job, seq, type, status, at, data)\nend',
        to: "if type ~= 'acked' then publish(job, seq, type, status, at, data) end\nend",
      },
    ],
  },
  {
    title: 'a gateway closes streams in the middle of their jobs',
    breaks: ['P8'],
    edits: [
      {
        file: `${GATEWAY}/job-feed.js`,
        from: 'session.deliver(framed);',
        to: 'session.deliver(framed);\n            if (seq === 4 && !framed.isTerminal) session.close(CLOSE_CODES.interrupted);',
      },
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
    title: 'streams without a key show the status of the job',
    breaks: ['P9'],
    edits: [
      {
        file: `${GATEWAY}/message.js`,
        from: 'progressMessageOf({ jobId, type, data, at })',
        to: 'progressMessageOf({ jobId, type, data, at, status })',
      },
      {
        file: `${GATEWAY}/message.js`,
        from: '{ jobId, type, data, timestamp }',
        to: '{ jobId, type, data, timestamp, status }',
      },
    ],
  },
  {
    title: 'a script does not look whether its slot is being moved',
    breaks: ['P16'],
    edits: [
      {
        file: `${STORE}/script-on-cluster.js`,
        from: "if type(probe) == 'table' and probe.err then return { 'SLOT_MOVING', probe.err } end",
        to: '',
      },
    ],
    under: 'F9-migration',
  },
  {
    title: 'no primary of a cluster is asked while one of them is away',
    breaks: ['P12'],
    edits: [
      {
        file: 'packages/runtime/dist/redis/command-cluster.js',
        from: "this.status !== 'ready' && command",
        to: "(this.status !== 'ready' || this.nodes('master').length < 3) && command",
      },
    ],
    under: 'F9-failover',
  },
  {
    title: 'a gateway does not read what a job has done while its channel was not heard',
    breaks: ['P8'],
    under: 'F19',
    edits: [
      {
        file: `${GATEWAY}/job-feed.js`,
        from: 'this.#newestLog = 0;\n        void this.#catchUp();',
        to: 'this.#newestLog = 0;',
      },
    ],
  },
  {
    title: 'the streams of a space go on when its channel was not heard',
    breaks: ['P8'],
    under: 'F19',
    edits: [
      {
        file: `${GATEWAY}/space-feed.js`,
        from: 'for (const session of this.sessions)\n            session.close(CLOSE_CODES.interrupted);\n    }\n    receive',
        to: '}\n    receive',
      },
    ],
  },
  {
    title: 'revocations are heard no more once their channel was lost',
    breaks: ['P14'],
    under: 'F19',
    edits: [
      {
        file: `${STORE}/subscriptions/connection.js`,
        from: '#lose() {',
        to: `#lose() {
        for (const channel of this.#listeners.keys())
            if (channel.endsWith(':revoked'))
                this.#listeners.delete(channel);`,
      },
    ],
  },
  {
    title: 'callbacks are owed only to those who hear of it at once',
    breaks: ['P6'],
    under: 'F19',
    edits: [{ file: `${SCHEDULER}/sweeper.js`, from: 'due.callbacks.forEach(wake);', to: '' }],
  },
  {
    title: 'a process that is told to stop cuts off who it serves',
    breaks: ['P15'],
    under: 'F25',
    edits: [
      {
        file: `${BACKEND}/http/drain.js`,
        from: 'const closed = stopListening(server);',
        to: 'const closed = stopListening(server);\n    server.closeAllConnections();',
      },
    ],
  },
  {
    title: 'a gateway that is told to stop does not say so to its streams',
    breaks: ['P8'],
    under: 'F25',
    edits: [{ file: `${GATEWAY}/sessions.js`, from: 'session.close(CLOSE_CODES.goingAway);', to: 'session.cutOff();' }],
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
    title: 'schedulers wait for ticks of BullMQ and nothing else',
    breaks: ['P4'],
    under: 'F29',
    edits: [
      {
        file: `${SCHEDULER}/ticks.js`,
        from: 'if (sweeper.idleMs() < PATIENCE_MS)\n            return;',
        to: 'return;',
      },
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
