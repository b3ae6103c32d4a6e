import { inspect, isDeepStrictEqual } from 'node:util';
import { afterAll, expect, it } from '@jest/globals';
import { type Schedule, scheduleRequest } from '@yardmaster/protocol';
import {
  ANY_SPACE,
  ackJob,
  claimJob,
  completeJob,
  createStore,
  deleteJob,
  deleteSchedule,
  dueOf,
  fireSchedules,
  getJob,
  isoOf,
  killJob,
  listSchedules,
  partitionOf,
  pauseSchedule,
  prepareRedis,
  putSchedule,
  runSchedule,
  type Store,
} from '@yardmaster/store';
import type { Redis } from 'ioredis';
import { connectTo } from '../support/connect.js';
import { fsck } from '../support/fsck.js';
import { withRedis } from '../support/own-redis.js';
import { Random } from '../support/random.js';
import {
  type Declared,
  EXPRESSIONS,
  isOpen,
  LATE_MS,
  Oracle,
  type OracleJob,
  type OracleSchedule,
} from './model-oracle.js';

// A random walk over schedules, their jobs and the clock, compared with an oracle after each step.
//
//   MODEL_SEED=7 …   walks with this seed

const STEPS = 2_000;
const SEEDS = process.env.MODEL_SEED === undefined ? [1, 2] : [Number(process.env.MODEL_SEED)];
const FSCK_EVERY = 100;
const BEGINNING = Date.UTC(2027, 1, 27, 22, 58, 30, 250);
const SPACES = ['model-a', 'model-b'] as const;
const IDS = ['one', 'two', 'three'];

const redis = withRedis();
const connections: Redis[] = [];
afterAll(() => {
  for (const connection of connections) connection.disconnect();
});
function connect(): Redis {
  const connection = connectTo(redis.url);
  connections.push(connection);
  return connection;
}

/** A scheduler that reads what is due, but whose next script, which runs it, is not sent until a test sends it. */
function withheld(connection: Redis, settings: Parameters<typeof createStore>[1]) {
  const held: unknown[][] = [];
  let scripts = 0;
  const evalsha = (...args: unknown[]) => {
    if (++scripts % 2 === 1) return (connection.evalsha as (...args: unknown[]) => Promise<unknown>)(...args);
    held.push(args);
    return Promise.reject(new Error('withheld'));
  };
  const holding = new Proxy(connection, {
    get: (target, name) => (name === 'evalsha' ? evalsha : Reflect.get(target, name, target)),
  });
  const store = createStore(holding, settings);
  return {
    /** Read what is due. @returns how to send the script that runs it, if anything is due */
    async read(partition: string, now: number): Promise<(() => Promise<unknown>) | null> {
      held.length = 0;
      scripts = 0;
      await fireSchedules(store, partition, now).catch((error: Error) => {
        if (held.length === 0) throw error;
      });
      const [args] = held;
      return args === undefined
        ? null
        : () => (connection.evalsha as (...args: unknown[]) => Promise<unknown>)(...args);
    },
  };
}

const keyOf = (spaceId: string, id: string) => `${spaceId}/${id}`;
const partsOf = (key: string) => key.split('/') as [spaceId: string, id: string];

/** The part of a spread comes from the product, within the bounds that the contract sets. */
function dueTime({ key, declared, createdAt }: OracleSchedule, at: number): number {
  const { spreadSeconds, ...timing } = declared;
  if (spreadSeconds === 0) return at;
  const due = dueOf(key, { job: { name: 'any' }, spreadSeconds }, { ...timing, timezone: 'UTC', createdAt }, at);
  expect(due).toBeGreaterThanOrEqual(at);
  expect(due).toBeLessThan(at + spreadSeconds * 1_000);
  return due;
}

class Walk {
  private readonly oracle = new Oracle(BEGINNING, dueTime);
  private readonly random: Random;
  /** Scripts of schedulers that have read what is due and have not run it yet, each with what the oracle has read. */
  private readonly late: { send: () => Promise<unknown>; fire: () => void; left: number }[] = [];
  private readonly steps: string[] = [];

  constructor(
    private readonly seed: number,
    private readonly stores: readonly [Store, Store],
    private readonly slow: ReturnType<typeof withheld>,
  ) {
    this.random = new Random(seed);
  }

  private get store(): Store {
    return this.random.of(this.stores);
  }

  async walk(): Promise<void> {
    await this.setClock(BEGINNING);
    for (let n = 1; n <= STEPS; n++) {
      await this.step();
      await this.compare();
      if (n % FSCK_EVERY > 0) continue;
      await this.compareJobs();
      this.expectSame(await fsck(this.stores[0]), []);
    }
    // A walk that never did one of these has tested too little.
    const { jobs } = this.oracle;
    expect(jobs.some(({ isReplaced }) => isReplaced)).toBe(true);
    expect(jobs.map(({ status }) => status)).toEqual(expect.arrayContaining(['completed', 'killed', 'deleted']));
  }

  private async step(): Promise<void> {
    const { random, oracle } = this;
    const kind = random.weighted({
      put: 12,
      pause: 4,
      remove: 1,
      run: 6,
      pass: 30,
      fire: 30,
      read: 10,
      late: 10,
      work: 20,
    });
    const some = [...oracle.schedules.keys()];
    if (kind === 'put' || some.length === 0) return this.put();
    if (kind === 'pass') return this.pass();
    if (kind === 'fire') return this.fire();
    if (kind === 'read') return this.read();
    if (kind === 'late') return this.sendLate();
    if (kind === 'work') return this.work();
    return this[kind](random.of(some));
  }

  private note(...words: unknown[]): void {
    this.steps.push(words.map((word) => (typeof word === 'string' ? word : JSON.stringify(word))).join(' '));
  }

  private async setClock(ms: number): Promise<void> {
    this.oracle.now = ms;
    await this.stores[0].redis.set(this.stores[0].keys.manualClock, ms);
  }

  /** Let seconds or days pass, or the time until just before or after something changes. */
  private async pass(): Promise<void> {
    const { random, oracle } = this;
    const next = [...oracle.schedules.values()]
      .flatMap(({ nextAt }) => nextAt ?? [])
      .filter((at) => at >= oracle.now - LATE_MS);
    const ms =
      next.length > 0 && random.chance(0.5)
        ? random.of(next) + random.of([-1, 0, 0, 1, 5_000, LATE_MS - 1, LATE_MS, LATE_MS + 1]) - oracle.now
        : random.of([1_000, 20_000, 60_000, 600_000, 3_600_000, 30_000_000, 86_400_000, 400_000_000]) *
          random.fraction();
    const now = oracle.now + Math.max(1, Math.round(ms));
    this.note('clock', isoOf(now));
    await this.setClock(now);
  }

  private drawDeclared(): Declared {
    const { random, oracle } = this;
    const isCron = random.chance(0.6);
    const within = (ms: number) => oracle.now + Math.round((random.fraction() - 0.3) * ms);
    const startsAt = random.chance(0.3) ? within(7_200_000) : null;
    return {
      cron: isCron ? random.of(EXPRESSIONS) : null,
      everySeconds: isCron ? null : random.of([10, 45, 60, 90, 3_600, 100_000]),
      startsAt,
      endsAt: random.chance(0.3) ? Math.max(startsAt ?? 0, within(200_000_000)) : null,
      spreadSeconds: random.chance(0.3) ? random.of([5, 60, 1_800, 100_000]) : 0,
      overlap: random.of(['skip', 'allow', 'replace']),
      missed: random.of(['once', 'skip']),
      missedWithinSeconds: random.of([0, 61, 3_600, 86_400, 1_000_000]),
      paused: random.chance(0.1),
    };
  }

  /** Create a schedule, repeat it, change one or two fields, or change all. */
  private async put(key = keyOf(this.random.of(SPACES), this.random.of(IDS))): Promise<void> {
    const { random, oracle } = this;
    const before = oracle.schedules.get(key)?.declared;
    const drawn = this.drawDeclared();
    const one = random.of([
      'spreadSeconds',
      'overlap',
      'missed',
      'missedWithinSeconds',
      'startsAt',
      'endsAt',
      'paused',
    ] as const);
    const timing = { cron: drawn.cron, everySeconds: drawn.everySeconds };
    const declared =
      before === undefined || random.chance(0.4)
        ? drawn
        : random.of([
            before,
            { ...before, [one]: drawn[one] },
            { ...before, [one]: drawn[one] },
            { ...before, ...timing },
          ]);
    if (declared.startsAt !== null && declared.endsAt !== null)
      declared.endsAt = Math.max(declared.startsAt, declared.endsAt);
    const { paused, ...others } = declared;
    const body = random.chance(0.5) ? declared : others;
    this.note('put', key, body);
    const { startsAt, endsAt, ...rest } = body;
    const request = scheduleRequest.parse({
      ...rest,
      startsAt: startsAt === null ? null : isoOf(startsAt),
      endsAt: endsAt === null ? null : isoOf(endsAt),
      job: { name: 'work', tags: ['a'] },
    });
    const { outcome } = await putSchedule(this.store, ...partsOf(key), request);
    this.expectSame(outcome, oracle.put(key, body));
  }

  private async pause(key: string): Promise<void> {
    const isPaused = this.random.chance(0.5);
    this.note(isPaused ? 'pause' : 'resume', key);
    this.oracle.pause(key, isPaused);
    await pauseSchedule(this.store, ...partsOf(key), isPaused);
  }

  private async remove(key: string): Promise<void> {
    this.note('remove', key);
    this.oracle.remove(key);
    await deleteSchedule(this.store, ...partsOf(key));
  }

  private async run(key: string): Promise<void> {
    this.note('run', key);
    const job = this.oracle.run(key);
    const ran = await runSchedule(this.store, ...partsOf(key), undefined).catch(({ code }) => code);
    if (job === null) return this.expectSame(ran, 'SCHEDULE_RUNNING');
    this.expectSame(ran.isNew, true);
    job.id = ran.jobId;
  }

  /** Fire what is due in a partition by one scheduler, or by two at once. */
  private async fire(): Promise<void> {
    const { random, oracle, stores } = this;
    const spaceId = random.of(SPACES);
    const firing = random.of([stores, [this.store], [...stores, ...stores]]);
    this.note('fire', spaceId, firing.length);
    const readings = oracle.read().filter(({ key }) => partsOf(key)[0] === spaceId);
    const before = [...oracle.schedules.values()].reduce((sum, { fired }) => sum + fired, 0);
    oracle.fire(readings);
    const after = [...oracle.schedules.values()].reduce((sum, { fired }) => sum + fired, 0);
    const all = await Promise.all(firing.map((store) => fireSchedules(store, partitionOf(spaceId), oracle.now)));
    this.expectSame(
      all.reduce((sum, { fired }) => sum + fired, 0),
      after - before,
    );
    this.expectSame(
      all.flatMap(({ broken }) => broken),
      [],
    );
  }

  /** Let a scheduler read what is due, and run it later, twice, or never; a schedule may change right after. */
  private async read(): Promise<void> {
    const { oracle, random } = this;
    const spaceId = random.of(SPACES);
    this.note('read', spaceId);
    const readings = oracle.read().filter(({ key }) => partsOf(key)[0] === spaceId);
    const send = await this.slow.read(partitionOf(spaceId), oracle.now);
    this.expectSame(send !== null, readings.length > 0);
    if (send !== null) this.late.push({ send, fire: () => oracle.fire(readings), left: random.between(0, 2) });
    if (readings.length === 0 || random.chance(0.5)) return;
    await this.put(random.of(readings).key);
    if (random.chance(0.7)) await this.sendLate();
  }

  private async sendLate(): Promise<void> {
    const script = this.late.findLast(({ left }) => left > 0);
    if (script === undefined) return;
    this.note('late');
    script.left--;
    script.fire();
    await script.send();
  }

  /** Take a job one step further, or delete one that has ended. */
  private async work(): Promise<void> {
    const { random, oracle, store } = this;
    const some = oracle.jobs.filter((job) => isOpen(job) || (job.status !== 'deleted' && random.chance(0.01)));
    if (some.length === 0) return;
    const job = random.of(some);
    const id = job.id as string;
    this.note('work', job);
    if (!isOpen(job)) {
      job.status = 'deleted';
      await deleteJob(store, ANY_SPACE, id);
    } else if (random.chance(0.2)) {
      job.status = 'killed';
      await killJob(store, ANY_SPACE, id, 'enough');
    } else if (job.status === 'pending') {
      job.status = 'delivered';
      expect(await claimJob(store, ANY_SPACE, id)).toMatchObject({ claimed: true });
    } else if (job.status === 'delivered') {
      job.status = 'running';
      await ackJob(store, ANY_SPACE, id);
    } else {
      job.status = 'completed';
      await completeJob(store, ANY_SPACE, id, null);
    }
  }

  private expectSame(actual: unknown, expected: unknown): void {
    if (isDeepStrictEqual(actual, expected)) return;
    const steps = [`seed ${this.seed}, step ${this.steps.length}:`, ...this.steps.slice(-20)].join('\n  ');
    throw new Error(
      `${steps}\nexpected ${inspect(expected, { depth: 9 })}\nbut it is ${inspect(actual, { depth: 9 })}`,
    );
  }

  /** Compare all schedules, and the number of jobs. */
  private async compare(): Promise<void> {
    const { oracle, stores } = this;
    for (const spaceId of SPACES) {
      const { schedules } = await listSchedules(stores[0], spaceId, { limit: 200, cursor: null });
      for (const { id, lastJobId } of schedules) {
        const last = oracle.schedules.get(keyOf(spaceId, id))?.last;
        if (last && last.id === null) await this.bind(last, lastJobId as string);
      }
      const mine = [...oracle.schedules.values()].filter(({ key }) => partsOf(key)[0] === spaceId);
      const shown = schedules.map((schedule) => shownOf(schedule)).sort((a, b) => (a.key < b.key ? -1 : 1));
      this.expectSame(
        shown,
        mine.map((schedule) => expectedOf(schedule)).sort((a, b) => (a.key < b.key ? -1 : 1)),
      );
      const jobs = oracle.jobs.filter(
        ({ schedule, status }) => partsOf(schedule)[0] === spaceId && status !== 'deleted',
      );
      this.expectSame(await stores[0].redis.zcard(stores[0].keys.jobs(spaceId)), jobs.length);
    }
  }

  /** Note the ID of a new job, which must be that of the right time and no other job's. */
  private async bind(job: OracleJob, id: string | null): Promise<void> {
    this.expectSame(this.oracle.jobs.filter((other) => other.id === id).length, 0);
    this.expectSame(await this.shownJob(id ?? 'none'), expectedJob(job));
    job.id = id;
  }

  private async compareJobs(): Promise<void> {
    for (const job of this.oracle.jobs) {
      this.expectSame(job.id === null, false);
      if (job.status !== 'deleted') this.expectSame(await this.shownJob(job.id as string), expectedJob(job));
    }
  }

  private async shownJob(jobId: string) {
    const [store] = this.stores;
    const { spaceId, scheduleId, scheduledFor, status, tags, events } = await getJob(store, ANY_SPACE, jobId);
    const { reason } = (events.find(({ type }) => type === 'killed')?.data ?? {}) as { reason?: string };
    return {
      schedule: keyOf(spaceId, scheduleId as string),
      scheduledFor,
      status,
      tags,
      isReplaced: reason === `Replaced by the next run of schedule ${scheduleId}`,
    };
  }
}

const expectedJob = ({ schedule, scheduledFor, status, isReplaced }: OracleJob) => ({
  ...{ schedule, status, isReplaced },
  ...{ scheduledFor: isoOf(scheduledFor), tags: ['a'] },
});

const shownOf = ({
  spaceId,
  id,
  nextAt,
  lastAt,
  lastJobId,
  fired,
  skipped,
  lastSkipped,
  createdAt,
  paused,
}: Schedule) => ({
  key: keyOf(spaceId, id),
  ...{ nextAt, lastAt, lastJobId, fired, skipped, lastSkipped, createdAt, paused },
});

function expectedOf({ key, createdAt, declared, nextAt, lastAt, last, fired, skipped, lastSkipped }: OracleSchedule) {
  const textOf = (at: number | null) => (at === null ? null : isoOf(at));
  return {
    key,
    ...{ nextAt: textOf(nextAt), lastAt: textOf(lastAt), lastJobId: last?.id ?? null, fired, skipped },
    ...{ lastSkipped: lastSkipped && { at: isoOf(lastSkipped.at), reason: lastSkipped.reason } },
    ...{ createdAt: isoOf(createdAt), paused: declared.paused },
  };
}

it.each(SEEDS)('schedules do in a random walk what the oracle says: seed %i', async (seed) => {
  const settings = { keyPrefix: `walk-${seed}`, isClockManual: true };
  const stores = [createStore(connect(), settings), createStore(connect(), settings)] as const;
  await prepareRedis(stores[0]);
  await new Walk(seed, stores, withheld(connect(), settings)).walk();
});
