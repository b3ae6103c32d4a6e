// The program that the conformance scenarios drive: see sdk/conformance/README.md.
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { NonRetryable, RetryAfter, Worker, Yardmaster } from '../dist/index.js';

const print = (event, fields = {}) => process.stdout.write(`${JSON.stringify({ event, ...fields })}\n`);
const client = new Yardmaster();
let worker = null;

const cycle = {};
cycle.self = cycle;
const LONG = 'é\n'.repeat(100_000);

/** Values that a handler returns, throws or reports by mistake. */
const ODD = {
  resultNaN: () => ({ value: { n: Number.NaN } }),
  resultCycle: () => ({ value: cycle }),
  resultLarge: () => ({ value: 'x'.repeat(300_000) }),
  resultHuge: () => ({ value: 'x'.repeat(17_000_000) }),
  resultDeep: () => ({ value: Array.from({ length: 100 }).reduce((inner) => [inner], 1) }),
  resultRaises: () => ({ value: { toJSON: () => STEPS.throw('toJSON') } }),
  errorLong: () => STEPS.throw(LONG),
  errorCause() {
    throw new Error('outer', { cause: new Error('connection refused') });
  },
  errorGroup() {
    throw new AggregateError([new Error('one'), new Error('two')], 'several');
  },
  errorOdd() {
    throw Object.defineProperty(new Error(), 'message', { get: () => STEPS.throw('message') });
  },
  errorEmpty() {
    throw undefined;
  },
  releaseLong: (context) => ({ value: context.release({ reason: LONG }) }),
  saveNaN: (context) => context.save({ n: Number.NaN }),
  eventNaN: (context) => context.event({ n: Number.NaN }),
};

/** The steps of a handler. A step that returns a value ends the handler with it. */
const STEPS = {
  return: (value) => ({ value }),
  throw(text) {
    throw new Error(text);
  },
  nonRetryable(text) {
    throw new NonRetryable(text);
  },
  retryAfter({ seconds, message }) {
    throw new RetryAfter(seconds, message);
  },
  release: ({ delaySeconds, reason }, context) => ({ value: context.release({ delay: delaySeconds ?? 0, reason }) }),
  odd: (what, context) => ODD[what](context),
  sleepMs: async (ms) => void (await sleep(ms)),
  blockMs(ms) {
    for (const end = Date.now() + ms; Date.now() < end; );
  },
  awaitAbort: (_, { signal }) =>
    new Promise((resolve) => {
      if (signal.aborted) resolve();
      signal.addEventListener('abort', () => resolve());
    }),
  progress: ({ percent, message, subProgress }, context) => context.progress(percent, message, subProgress),
  save: (value, context) => context.save(value),
  event: (data, context) => context.event(data),
  ephemeral: (data, context) => context.event(data, { ephemeral: true }),
  log: ({ level, message, metadata }, context) => context.log[level](message, metadata),
  logs(count, context) {
    for (let i = 1; i <= count; i++) context.log.info(`line ${i}`);
  },
};

function handlerOf(plan) {
  const attempts = Array.isArray(plan) ? [plan] : [...plan.attempts];
  return async ({ id: jobId, name, attempt, payload }, context) => {
    print('handler', { jobId, name, attempt, payload, checkpoint: context.checkpoint });
    const { signal } = context;
    signal.addEventListener('abort', () => print('aborted', { jobId, reason: signal.reason.name }));
    try {
      for (const step of attempts.length > 1 ? attempts.shift() : attempts[0]) {
        const [[action, value]] = Object.entries(step);
        const ended = await STEPS[action](value, context);
        if (ended !== undefined) return ended.value;
      }
    } finally {
      print('handlerEnded', { jobId });
    }
  };
}

function start({ concurrency, drainSeconds, autoAck = false, handlers }) {
  const onWarning = ({ kind, message, jobIds }) => print('warning', { kind, message, jobIds });
  worker = new Worker(client, { concurrency, drain: drainSeconds, autoAck, onWarning });
  for (const [name, plan] of Object.entries(handlers)) worker.on(name, handlerOf(plan));
  print('started');
  worker
    .run()
    .then(
      () => print('drained'),
      ({ message }) => {
        print('failed', { error: message });
        print('drained');
      },
    )
    .finally(() => {
      if (isSignalled) process.exit(0);
    });
}

let isSignalled = false;
for (const signal of ['SIGTERM', 'SIGINT']) {
  process.on(signal, () => {
    isSignalled = true;
    if (worker === null) process.exit(0);
  });
}

const WIRE = {
  delaySeconds: 'delay',
  timeoutSeconds: 'timeout',
  maxRunSeconds: 'maxRun',
  startWithinSeconds: 'startWithin',
};
const optionsOf = (options = {}) =>
  Object.fromEntries(Object.entries(options).map(([name, value]) => [WIRE[name] ?? name, value]));
const keyOf = ({ idempotencyKey }) => (idempotencyKey === undefined ? {} : { idempotencyKey });

/** Unlike the options of a create, schedules and their jobs have the field names of the API. */
const scheduleOf = ({ job: { options, ...job }, ...schedule }) => ({ ...schedule, job: { ...job, ...options } });

const COMMANDS = {
  async create({ name, payload, options, ...more }) {
    const job = await client.create(name, payload, { ...optionsOf(options), ...keyOf(more) });
    return ['created', { jobId: job.id }];
  },
  async createMany({ jobs, ...more }) {
    const list = jobs.map(({ name, payload, options }) => ({ name, payload, options: optionsOf(options) }));
    const created = await client.createMany(list, keyOf(more));
    return ['created', { jobIds: created.map(({ id }) => id) }];
  },
  async result({ jobId, timeoutSeconds }) {
    return ['result', { result: await client.handle(jobId).result({ timeout: timeoutSeconds }) }];
  },
  async kill({ jobId, reason }) {
    await client.kill(jobId, reason);
    return ['done'];
  },
  async watch({ as, jobId, since, names: name, types: type, tags: tag }) {
    const stream = jobId === undefined ? client.watch({ name, type, tag }) : client.handle(jobId).watch({ since });
    for await (const message of stream) {
      const { type: messageType, jobId: ofJob = null, seq = null } = message;
      print('message', { as, type: messageType, jobId: ofJob, seq });
    }
    return ['watchEnded'];
  },
  async schedules({ call, id, schedule, payload, owner, schedules, prune }) {
    if (call === 'put') return ['done', { result: await client.schedules.put(id, scheduleOf(schedule)) }];
    if (call === 'sync') {
      const result = await client.schedules.sync({ owner, schedules: schedules.map(scheduleOf), prune });
      return ['done', { result }];
    }
    if (call === 'list') {
      const result = [];
      for await (const each of client.schedules.list()) result.push(each);
      return ['done', { result }];
    }
    if (call === 'run') {
      const job = await client.schedules.run(id, payload === undefined ? {} : { payload });
      return ['created', { jobId: job.id }];
    }
    return ['done', { result: await client.schedules[call](id) }];
  },
  async streamToken({ as: _, ...request }) {
    const { token } = await client.createStreamToken(request);
    return ['streamToken', { token }];
  },
};

async function carryOut({ do: action, as, ...command }) {
  if (action === 'start') return start(command.worker);
  if (action === 'stop') return worker?.stop();
  try {
    const [event, fields] = await COMMANDS[action]({ as, ...command });
    print(event, { as, ...fields });
  } catch (error) {
    const { code, status, message, jobId, requestId = null } = error;
    print('refused', { as, code, status, error: message, jobId, hasRequestId: requestId !== null });
  }
}

createInterface({ input: process.stdin })
  .on('line', (line) => void carryOut(JSON.parse(line)))
  .on('close', () => process.exit(0));
