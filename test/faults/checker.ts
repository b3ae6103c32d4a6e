import type { Dump } from './dump.js';
import { callbacksAfter, callsAfter, type Span, streamsAfter } from './forgotten.js';
import type { Call, Callback, Entry } from './history.js';
import type { Settings } from './installation.js';
import { RULES } from './rules/all.js';
import { type Case, type Evidence, type HandOut, linesOf, type Outage, type Violation } from './rules/rule.js';

export interface Record {
  entries: readonly Entry[];
  dump: Dump;
  outages: readonly Outage[];
  settings: Settings;
  /**
   * Spans whose answers may have been forgotten again, as those of the last two seconds before a power cut; see
   * forgotten.ts. Default none.
   */
  forgotten?: readonly Span[];
}

/**
 * Judge a run: compare what every client saw with what is stored at its end.
 *
 * @returns what breaks a promise; nothing for a run as it should be
 */
export function check(record: Record): Violation[] {
  const evidence = evidenceOf(record);
  const lines = new Map(evidence.cases.map(({ jobId, calls }) => [jobId, linesOf(calls.slice(-SHOWN))]));
  return RULES.flatMap(({ name, promise, check: look }) =>
    look(evidence).map((found) => ({
      rule: name,
      promise,
      damage: 'other' as const,
      lines: lines.get(found.jobId ?? '') ?? [],
      ...found,
    })),
  );
}

/** Where a rule does not say which calls show what it found: so many of the last ones for that job. */
const SHOWN = 12;

/** Sort what happened by the jobs that it happened to. */
export function evidenceOf({ entries, dump, outages, settings, forgotten = [] }: Record): Evidence {
  const ofKind = <K extends Entry['kind']>(kind: K) =>
    entries.filter((entry): entry is Extract<Entry, { kind: K }> => entry.kind === kind);
  const calls = callsAfter(forgotten, ofKind('call'), dump);
  return {
    entries,
    calls,
    streams: streamsAfter(forgotten, ofKind('stream'), dump),
    cases: casesOf(calls, callbacksAfter(forgotten, ofKind('callback'), dump), dump),
    dump,
    outages,
    settings,
  };
}

function casesOf(calls: readonly Call[], callbacks: readonly Callback[], dump: Dump): Case[] {
  const cases = new Map<string, Case>();
  const caseOf = (jobId: string): Case => {
    const known = cases.get(jobId) ?? { jobId, job: null, calls: [], handOuts: [], callbacks: [] };
    cases.set(jobId, known);
    return known;
  };
  for (const job of dump.jobs) caseOf(job.id).job = job;
  for (const call of calls) {
    if (call.jobId !== null) caseOf(call.jobId).calls.push(call);
    for (const { jobId, ...handOut } of handOutsOf(call)) caseOf(jobId).handOuts.push(handOut);
  }
  for (const callback of callbacks) caseOf(callback.jobId).callbacks.push(callback);
  return [...cases.values()];
}

function handOutsOf(call: Call): (HandOut & { jobId: string })[] {
  if (call.outcome !== 'ok') return [];
  const jobs = call.op === 'poll' ? call.body.jobs : call.op === 'claim' && call.body.claimed ? [call.body.job] : [];
  return jobs.map((job: { id: string; attemptNumber: number }) => ({
    jobId: job.id,
    attempt: job.attemptNumber,
    job,
    call,
  }));
}
