import { drained } from '../course.js';
import type { Fault, Ground, Run } from '../fault.js';
import type { Call, Operation } from '../history.js';
import { callsDuring, timeOutsIn, unanswered } from '../measures.js';
import type { Found } from '../rules/rule.js';
import { begin, goOn, judge, type Unfinished } from './unfinished-work.js';

/** Numbers that no job of the load has. */
const UNFINISHED = 2_000_000;
const FILLING = 3_000_000;

/** Of each kind of unfinished work there are so many. */
const ROUNDS = [0, 1, 2];

const FILLER = 'x'.repeat(16_384);
const ROOM_BYTES = 1_000_000;

/** What may be refused for lack of memory; all else must go on. */
const MAY_BE_REFUSED: readonly Operation[] = ['create', 'logs', 'progress', 'checkpoint', 'event'];

/** BullMQ is of no use to a full Redis: a scheduler hears of that by its own patience. */
const LATE_MS = 5_000;

const CLIENT = 'filler';

const setMax = ({ connection }: Ground['installation'], bytes: number) =>
  connection.config('SET', 'maxmemory', Math.floor(bytes));

const used = async ({ connection }: Ground['installation']) =>
  Number(/^used_memory:(\d+)/m.exec(await connection.info('memory'))?.[1]);

/** Create until there is no room left. @returns the jobs created */
async function fill({ installation, call }: Ground): Promise<string[]> {
  await setMax(installation, (await used(installation)) + ROOM_BYTES);
  const jobIds: string[] = [];
  for (let n = FILLING; ; n++) {
    const sent = { name: 'filler', payload: { n, FILLER } };
    const { jobId, code } = await call({ client: CLIENT, op: 'create', spaceId: 'full', sent });
    if (code === 'STORAGE_FULL') return jobIds;
    if (jobId !== null) jobIds.push(jobId);
  }
}

/** Have work begun, and no room left at once: it has windows of seconds. */
async function beginAndFill(ground: Ground): Promise<Unfinished[]> {
  await setMax(ground.installation, 0);
  const unfinished = await Promise.all(ROUNDS.map((n) => begin(ground, UNFINISHED + 100 * n)));
  // Half of it: no room comes of what ends meanwhile.
  await setMax(ground.installation, (await used(ground.installation)) / 2);
  return unfinished.flat();
}

/** What must hold of each call that was refused while Redis was full. */
function faultOf({ op, code, sent, jobId }: Call, { dump: { jobs } }: Run): string | null {
  if (code !== 'STORAGE_FULL' || !MAY_BE_REFUSED.includes(op)) return `${op} was answered ${code}`;
  if (op === 'create') {
    const { n } = sent.payload;
    return jobs.some(({ payload }) => payload?.n === n) ? `creation ${n} was refused, and it is there` : null;
  }
  const job = jobs.find(({ id }) => id === jobId);
  const isThere =
    op === 'logs'
      ? job?.logs.some(({ message }) => sent.includes(message))
      : job?.events.some(({ data }) => JSON.stringify(data)?.includes(JSON.stringify(sent.token ?? sent.message)));
  return isThere ? `${op} was refused, and is there` : null;
}

const fullSince = new WeakMap<Run['installation'], number>();

export const faults: Fault[] = [
  {
    id: 'F15',
    title: 'Redis has no memory left',
    promises: ['P11', 'P4', 'P6'],
    stops: ['room'],
    lastsMs: 0,
    async inject(ground) {
      const { installation, figures, found } = ground;
      const fillers = await fill(ground);
      const unfinished = await beginAndFill(ground);
      fullSince.set(installation, Date.now());
      return async () => {
        await Promise.all(unfinished.map((one) => goOn(ground, one)));
        // Whoever made too much kills it, and that must work as well.
        for (const jobId of fillers) await ground.call({ client: CLIENT, op: 'kill', jobId, sent: { reason: jobId } });
        if (!(await drained(installation, 45_000)))
          found({ jobId: null, says: 'work was left over while it was full' });
        await judge(ground, unfinished);
        figures['full for ms'] = Date.now() - (fullSince.get(installation) as number);
        await setMax(installation, 0);
      };
    },
    expect(run) {
      const { figures, installation, outage } = run;
      const since = fullSince.get(installation) as number;
      const refused = callsDuring(run).filter(({ outcome }) => outcome === 'unknown');
      const ended = run.dump.jobs.flatMap(({ events }) =>
        events.filter(
          ({ type, createdAt }) =>
            ['completed', 'dead', 'killed'].includes(type) &&
            Date.parse(createdAt) > since &&
            Date.parse(createdAt) < outage.until,
        ),
      );
      const timeOuts = timeOutsIn(run).filter(({ at }) => at >= since && at <= outage.until);
      const late = timeOuts.filter(({ at, due }) => at - due > LATE_MS);
      figures['creations refused'] = refused.filter(({ op }) => op === 'create').length;
      figures['logs refused'] = refused.filter(({ op }) => op === 'logs').length;
      figures['ended while full'] = ended.length;
      figures['timed out while full'] = timeOuts.length;
      figures['latest time-out ms'] = Math.max(0, ...timeOuts.map(({ at, due }) => at - due));
      const never = ['create', 'logs', 'progress'].filter((op) => !refused.some((call) => call.op === op));
      return [
        ...never.map((op) => ({ jobId: null, says: `no ${op} was refused: it was never full` })),
        ...unanswered(run),
        ...refused.flatMap((call): Found[] => {
          const says = faultOf(call, run);
          return says === null ? [] : [{ jobId: call.jobId, says, lines: [call.line] }];
        }),
        ...late.map(
          ({ jobId, event, at, due }): Found => ({
            jobId,
            damage: 'late',
            promise: 'P4',
            says: `${event.type} came ${at - due} ms late`,
          }),
        ),
      ];
    },
  },
];
