import type { Figures } from '../fault.js';
import type { Evidence } from '../rules/rule.js';
import { latenessOf, timeOutsOf } from '../rules/time-outs.js';

/** What has happened in a lap, by what it is called in the table. All but the lateness are added up over the laps. */
export interface LapCounts {
  [what: string]: number;
}

/** Not a count: the worst of all laps is told. Time during which nobody could meet a time-out is taken off. */
export const WORST_LATENESS = 'worst lateness of a time-out, ms';

export function lapCounts(evidence: Evidence, figures: Figures): LapCounts {
  const { calls, cases, streams, outages } = evidence;
  const jobs = cases.flatMap(({ job }) => (job === null ? [] : [job]));
  const outcomes = (outcome: string) => calls.filter((call) => call.outcome === outcome).length;
  const ended = (status: string) => jobs.filter((job) => job.status === status).length;
  const sum = (of: (one: Evidence['cases'][number]) => number) => cases.reduce((all, one) => all + of(one), 0);
  const timeOuts = timeOutsOf(evidence);
  return {
    'calls answered 2xx': outcomes('ok'),
    'calls refused': outcomes('refused'),
    'calls of unknown outcome': outcomes('unknown'),
    jobs: jobs.length,
    'jobs completed': ended('completed'),
    'jobs dead': ended('dead'),
    'jobs killed': ended('killed'),
    'attempts handed out': sum(({ handOuts }) => handOuts.length),
    'time-outs met': timeOuts.length,
    [WORST_LATENESS]: Math.max(0, ...timeOuts.map((timeOut) => latenessOf(timeOut, outages))),
    'events in histories': jobs.reduce((all, job) => all + job.events.length, 0),
    'log entries': jobs.reduce((all, job) => all + job.logs.length, 0),
    'callbacks received': sum(({ callbacks }) => callbacks.length),
    'streams opened': streams.length,
    'messages on streams': streams.reduce((all, { messages }) => all + messages.length, 0),
    'replies lost': figures['replies lost'] ?? 0,
    'malformed requests': figures['malformed requests'] ?? 0,
  };
}

/** Of several laps. */
export function sumOf(laps: readonly LapCounts[]): LapCounts {
  const all: LapCounts = {};
  for (const counts of laps)
    for (const [what, count] of Object.entries(counts))
      all[what] = what === WORST_LATENESS ? Math.max(all[what] ?? 0, count) : (all[what] ?? 0) + count;
  return all;
}
