import { isDeepStrictEqual } from 'node:util';
import type { JobEvent } from '@yardmaster/protocol';
import type { DumpedJob } from '../dump.js';
import { type Evidence, linesOf, type Outage, ruleForEachJob, type Said, type StoredCase } from './rule.js';
import { stopsSchedulers } from './time-outs.js';

/** In the path of a callback URL behind which nobody reads what comes. */
export const NOBODY = '/nobody/';

/** In that of one whose first callback is not answered. */
export const HANGS = '/hangs/';

/**
 * What an ended job owes to its callback URL is delivered at least once, under one id, with bounded attempts that are
 * all recorded, no more and no fewer than its receiver asks for, and none before its time; nobody is told of a job that has
 * not ended, or was killed (P6).
 */
export const callbacks = ruleForEachJob('callbacks', 'P6', (one, evidence) => {
  const { job, callbacks: received } = one;
  const end = job.events.find(({ type }) => type === 'completed' || type === 'dead');
  const lines = linesOf(received);
  if (end === undefined || job.callbackUrl === null) {
    return received.length === 0 ? [] : [{ says: `a callback came for it, and it is ${job.status}`, lines }];
  }
  const found: Said[] = [...ofRecorded(one, evidence)];
  if (received.some(({ at }) => at < Date.parse(end.createdAt)))
    found.push({ says: 'a callback came before its end', lines });
  if (received.length === 0 && !job.callbackUrl.includes(NOBODY))
    found.push({ damage: 'lost', says: 'its callback never came' });
  if (new Set(received.map(({ id }) => id)).size > 1)
    found.push({ damage: 'duplicated', says: 'its callback came under several ids', lines });
  if (received.some(({ id }) => id === null)) found.push({ says: 'its callback came without an id', lines });
  const result = job.status === 'dead' ? end.data : job.result;
  if (received.some(({ body }) => body.status !== job.status || !isDeepStrictEqual(body.result, result)))
    found.push({ says: 'its callback told another end', lines });
  return found;
});

/** POSTs that may be repeated since nobody could record them: one for each process that is lost on the way… */
const REPEATED_AT_MOST = 2;

/** …which came while Redis or a scheduler was away, or so long before it, as an attempt may take, or after it, milliseconds. */
const UNRECORDED_BEFORE_MS = 12_000;
const UNRECORDED_AFTER_MS = 2_000;

function ofRecorded({ job, calls, callbacks: received }: StoredCase, { settings, outages }: Evidence): Said[] {
  const recorded = job.events.filter(({ type }) => type.startsWith('callback_'));
  const told = recorded.map(({ data }) => data as { attempt: number; willRetry: boolean });
  const rounds = 1 + calls.filter(({ op, outcome }) => op === 'redeliver' && outcome !== 'refused').length;
  const atMost = rounds * (settings.callbackDelays.length + 1);
  const found: Said[] = [];
  if (recorded.length === 0) found.push({ damage: 'lost', says: 'no attempt at its callback is recorded' });
  else if (told.at(-1)?.willRetry || job.isOwed) found.push({ damage: 'late', says: 'its callback is not settled' });
  if (told.some(({ attempt }, i) => attempt !== i + 1))
    found.push({ says: `attempts ${told.map(({ attempt }) => attempt)} at its callback are recorded` });
  if (recorded.length > atMost)
    found.push({
      damage: 'duplicated',
      says: `${recorded.length} attempts at its callback, where ${atMost} are allowed`,
    });
  const sent = recorded.filter(({ type }) => type === 'callback_sent').length;
  if (sent > received.length) found.push({ says: `${sent} callbacks are recorded as sent, ${received.length} came` });
  const mayBeRepeated = received.filter(({ at }) =>
    outages.some((outage) => keepsFromRecording(outage, { at, job })),
  ).length;
  if (received.length > recorded.length + Math.min(REPEATED_AT_MOST, mayBeRepeated))
    found.push({
      damage: 'duplicated',
      says: `${received.length} callbacks came, ${recorded.length} are recorded`,
      lines: linesOf(received),
    });
  // Which round an attempt was of is not told.
  if (rounds === 1) found.push(...ofRetries(recorded, settings.callbackDelays));
  return found;
}

function keepsFromRecording(outage: Outage, { at, job }: { at: number; job: DumpedJob }): boolean {
  const isGivenUp = outage.stops.includes('hanging callbacks') && job.callbackUrl?.includes(HANGS);
  if (!isGivenUp && !stopsSchedulers(outage)) return false;
  return at >= outage.from - UNRECORDED_BEFORE_MS && at <= outage.until + UNRECORDED_AFTER_MS;
}

/** Delays are so much shorter or longer, by chance. */
const JITTER = 0.2;

/** Whether the receiver may fare better later: it was not reached, or said so. */
const isPassing = ({ type, data }: JobEvent) => {
  const { statusCode = 0 } = data as { statusCode?: number };
  return type === 'callback_failed' || statusCode >= 500 || [408, 425, 429].includes(statusCode);
};

/** An attempt that did not get through is made again, as often as may be and not too soon; one that did is the last. */
function ofRetries(recorded: readonly JobEvent[], delays: readonly number[]): Said[] {
  return recorded.flatMap((event, i): Said[] => {
    const next = recorded[i + 1];
    if (next === undefined)
      return isPassing(event) && i < delays.length
        ? [{ damage: 'lost', says: `its callback was given up after ${i + 1} attempts` }]
        : [];
    if (!isPassing(event)) return [{ says: `attempt ${i + 2} at its callback came after one that had settled it` }];
    const waitedMs = Date.parse(next.createdAt) - Date.parse(event.createdAt);
    const leastMs = (delays[i] ?? 0) * 1_000 * (1 - JITTER);
    return waitedMs < leastMs - 1
      ? [{ says: `attempt ${i + 2} at its callback came after ${waitedMs} ms, and not after ${leastMs}` }]
      : [];
  });
}
