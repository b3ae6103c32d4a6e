import { isTerminal } from '@yardmaster/protocol';
import { bodyOf, PREDICTIONS } from '../../api/predictions.js';
import {
  ack,
  callbackOutcome,
  checkpoint,
  claim,
  complete,
  DELAY,
  delayed,
  deliveryTimeout,
  event,
  failForGood,
  kill,
  logsAppended,
  poll,
  progress,
  RUNNING,
  ready,
  releaseLater,
  releaseTooLate,
  replaced,
  replacedLater,
  rescheduleLater,
  rescheduleNow,
  rescheduleTo,
  retry,
  retryLater,
  runTooLong,
  type Step,
  startTooLate,
  step,
} from './steps.js';

/** The last step of a scenario whose job does not end. */
export const MARKER = progress({ percent: 99.5, message: 'marker' });

/** Steps from a status to the marker; an ended job has none. */
export const TO_MARKER: Record<string, Step[]> = {
  scheduled: [ready, claim, ack, MARKER],
  pending: [claim, ack, MARKER],
  delivered: [ack, MARKER],
  running: [MARKER],
};

/** Steps by which a new job with `maxRetries: 0` comes into each status. */
const TO_STATUS: Record<string, Step[]> = {
  scheduled: [rescheduleLater()],
  pending: [],
  delivered: [claim],
  running: RUNNING,
  completed: [...RUNNING, complete({ secret: true })],
  dead: [...RUNNING, failForGood('x')],
  killed: [kill()],
};

export interface Scenario {
  what: string;
  /** Steps before the clients connect. */
  before: Step[];
  /** Steps while the clients watch. A scenario whose job does not end continues to the marker. */
  live: Step[];
  maxRetries?: number | undefined;
  /** More fields of the create. */
  fields?: object;
}

/** Return the status with which the job of a scenario is created. */
export const statusAtFirst = ({ fields }: Scenario) => (fields === DELAY ? 'scheduled' : 'pending');

const JSON_VALUES: unknown[] = [
  null,
  0,
  '',
  [1, [], {}, [null, false]],
  { z: { y: { x: [{ w: 1.5e300 }] } }, a: '' },
  JSON.parse('{"b":1,"__proto__":{"isAdmin":true},"a":2}'),
  { 'schlüssel 🔑': 'line\u2028separator \u0000 "\\" ‮ 🚂' },
];

const STAGES = JSON.parse(
  '{"build":{"percent":100,"message":"fertig ✓"},"__proto__":{"percent":0.5},"1":{"percent":7}}',
);

/** The time limits of jobs that have one. */
const SECONDS = 3_600;

/** Scenarios of jobs that wait for a time, or that have a time limit. */
const TIMED_SCENARIOS: Scenario[] = [
  { what: 'that a scheduled job is ready', before: [], live: [ready], fields: DELAY },
  {
    what: 'other times for a scheduled job',
    before: [],
    live: [rescheduleLater({ priority: 60 }), rescheduleTo('2096-02-29T23:30:00.5-05:00'), rescheduleNow],
    fields: DELAY,
  },
  { what: 'other times for a pending job', before: [], live: [rescheduleNow, rescheduleLater(), ready] },
  {
    what: 'a retry with a delay, and a second one with an object',
    before: RUNNING,
    live: [retryLater('busy'), ready, ...RUNNING, retryLater({ code: 7 }, 2)],
  },
  {
    what: 'a retry with the delay of its job',
    before: RUNNING,
    live: [delayed(retry('busy'))],
    fields: { retry: { ...DELAY, jitter: 0 } },
  },
  {
    what: 'a release with a delay before and after the ack',
    before: [claim],
    live: [releaseLater('stop'), ready, ...RUNNING, releaseLater()],
  },
  { what: 'a replacement with a delay, and one without', before: [], live: [replacedLater, replaced] },
  {
    what: 'a retry after an attempt that took too long',
    before: RUNNING,
    live: [runTooLong(SECONDS)],
    fields: { maxRunSeconds: SECONDS },
  },
  ...[
    { what: 'pending', before: [], end: startTooLate },
    { what: 'scheduled', before: [claim, releaseLater()], end: startTooLate },
    { what: 'delivered', before: [claim], end: startTooLate },
    { what: 'released', before: [claim], end: releaseTooLate },
  ].map(({ what, before, end }) => ({
    what: `the death of a ${what} job that was not started in time`,
    before,
    live: [end(SECONDS)],
    fields: { startWithinSeconds: SECONDS },
  })),
];

/** A scenario for each call and each status in which it leaves an event. A stream of a job that has ended is closed. */
const CALL_SCENARIOS: Scenario[] = PREDICTIONS.flatMap(({ verb, from, outcome, event }) => {
  if (event === null || isTerminal(from)) return [];
  const live = [step(event.type, outcome, event.data, verb, bodyOf(verb))];
  return [{ what: `${verb} of a ${from} job`, before: TO_STATUS[from] as Step[], live, maxRetries: 0 }];
});

/** Scenarios of which each is about the first of its live steps. */
const LIVE_SCENARIOS: Scenario[] = [
  { what: 'that a job was polled', before: [], live: [poll] },
  {
    what: 'progress without stages, with stages, and with an empty object of stages',
    before: RUNNING,
    live: [
      progress({ percent: 0, message: '0 %' }),
      progress({ percent: 12.5, message: 'a part', subProgress: STAGES }),
      progress({ percent: 100, message: '…', subProgress: {} }),
    ],
  },
  { what: 'checkpoints with any JSON value', before: RUNNING, live: JSON_VALUES.map(checkpoint) },
  { what: 'events with any JSON value', before: RUNNING, live: JSON_VALUES.map(event) },
  ...JSON_VALUES.map((value) => ({
    what: `a completion with ${JSON.stringify(value)}`,
    before: RUNNING,
    live: [complete(value)],
  })),
  {
    what: 'a retry with a text, and a second one with an object',
    before: RUNNING,
    live: [retry('no luck'), ...RUNNING, retry({ code: 7, in: ['a', 'b'] }, 2)],
  },
  { what: 'a death with a text', before: RUNNING, live: [failForGood('no luck')], maxRetries: 0 },
  { what: 'a death with an object', before: RUNNING, live: [failForGood({ code: 7, in: ['a', 'b'] })], maxRetries: 0 },
  { what: 'a kill of a pending job', before: [], live: [kill('stop')] },
  { what: 'a kill of a delivered job', before: [claim], live: [kill('')] },
  { what: 'a kill of a running job, without a reason', before: RUNNING, live: [kill()] },
  { what: 'a delivery timeout', before: [claim], live: [deliveryTimeout] },
  { what: 'a replacement', before: [], live: [replaced] },
  ...Object.entries(TO_STATUS).map(([status, before]) => ({
    what: `logs of a ${status} job`,
    before,
    live: [logsAppended(status)],
    maxRetries: 0,
  })),
  // The logs after the outcomes show that the clients have received what was published before.
  {
    what: 'the outcomes of callbacks',
    before: [...RUNNING, complete(1)],
    live: [
      callbackOutcome('callback_sent', { statusCode: 204 }),
      callbackOutcome('callback_failed', { error: 'no such host' }),
      logsAppended('completed'),
    ],
  },
];

const REPORTED = [
  ...RUNNING,
  progress({ percent: 1, message: 'x' }),
  progress({ percent: 40, message: 'latest', subProgress: STAGES }),
];

/** Scenarios of jobs with progress. LIVE_SCENARIOS have a job in each status without progress. */
const INIT_SCENARIOS: Scenario[] = [
  { what: 'scheduled again, with progress', before: [...REPORTED, retryLater('once')], live: [] },
  { what: 'pending again, with progress', before: [...REPORTED, retry('once')], live: [] },
  { what: 'delivered again, with progress', before: [...REPORTED, retry('once'), claim], live: [] },
  { what: 'running with progress', before: REPORTED, live: [] },
  { what: 'completed with progress', before: [...REPORTED, complete(null)], live: [] },
  { what: 'dead with progress', before: [...REPORTED, failForGood('broken')], live: [], maxRetries: 0 },
  { what: 'killed with progress', before: [...REPORTED, kill('stop')], live: [] },
];

export const SCENARIOS = [...CALL_SCENARIOS, ...LIVE_SCENARIOS, ...TIMED_SCENARIOS, ...INIT_SCENARIOS];
