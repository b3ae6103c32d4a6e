import { isDeepStrictEqual } from 'node:util';
import { ANY_SPACE, getJob, type Store } from '@yardmaster/store';
import type { Ground } from '../fault.js';
import type { Call } from '../history.js';
import { runs } from '../scripts.js';
import type { Change } from './changes.js';
import { LOSING, type Loss, lieInWait, OTHER, type Trial, teller } from './lost-reply.js';
import { bring, callFor, endAll, jobsIn, logsOf, type Subject } from './subject.js';

/** Lead a job to where the row has it, and lie in wait for the call. */
export async function beginChange(
  ground: Ground,
  change: Change,
  { n, loss }: { n: number; loss: Loss },
): Promise<Trial> {
  const { op, script, endpoint } = change;
  const subject = await bring(ground, change, n);
  const about = op === 'poll' ? subject.spaceId : (subject.jobId ?? subject.spaceId);
  const lost = lieInWait(ground, 'api', { to: runs(script, about), loss });
  const say = teller(ground, { endpoint, runs: script }, change.case);
  const tell = (says: string, { line }: Call) => say(says, { jobId: subject.jobId, lines: [line] });
  let first: Call;
  return {
    async send() {
      first = await call(ground, change, { subject, which: 'first' });
    },
    async judge() {
      lost.disarm();
      if (lost.at === null) tell('no reply was lost', first);
      if (first.status !== 503 || first.code !== 'UNAVAILABLE') tell(`answered ${first.status} ${first.code}`, first);
      const { store } = ground.installation;
      const jobs = await jobsIn(store, subject.spaceId);
      if (jobs.length !== 1) tell(`${jobs.length} jobs are there`, first);
      const left = await leftIn(store, subject.jobId ?? (jobs[0]?.id as string), change);
      if (!isDeepStrictEqual(left, change.leaves)) tell(`left ${JSON.stringify(left)}`, first);

      const again = await call(ground, change, { subject, which: 'again' });
      const body = Object.fromEntries(Object.keys(change.again.body).map((field) => [field, again.body?.[field]]));
      if (!isDeepStrictEqual({ status: again.status, body }, change.again))
        tell(`the same call again was answered ${again.status} ${JSON.stringify(body)}`, again);
      await endAll(ground, subject.spaceId);
    },
  };
}

interface Turn {
  subject: Subject;
  which: 'first' | 'again';
}

/** The call of the row. */
function call(ground: Ground, { op, fields, sent }: Change, { subject, which }: Turn): Promise<Call> {
  const api = which === 'first' ? LOSING : OTHER;
  return callFor(ground, { op, subject, fields, sent: sent?.(`lost-${subject.n}-${which}`), api });
}

/** What a row speaks of, of the job as it is stored. */
async function leftIn(store: Store, id: string, { leaves }: Change): Promise<Change['leaves']> {
  const job = await getJob(store, ANY_SPACE, id);
  const count = (type: string) => job.events.filter((event) => event.type === type).length;
  const events = Object.fromEntries(Object.keys(leaves.events).map((type) => [type, count(type)]));
  if (leaves.logs === undefined) return { status: job.status, events };
  return { status: job.status, events, logs: (await logsOf(store, id)).length };
}
