import type { Job, JobEvent } from '@yardmaster/protocol';
import { errorLine, stackOf } from '@yardmaster/sdk/internal/error-text';
import { type CommandLine, defineCommand } from '../command.js';
import { done, keyHelp } from '../exit-codes.js';
import { idIn, type ServiceFlags, withServiceOptions } from '../flags.js';
import { call, Refused } from '../service/call.js';
import { readEvent } from '../service/message.js';
import { jobPath } from '../service/service.js';
import { type Color, colorOf, dim, plain } from '../terminal/color.js';
import { clip, jsonLine, localMoment, printable } from '../terminal/printable.js';
import { sizeOf, type Terminal } from '../terminal/region.js';
import { lineOf, progressTextOf } from '../watch/display.js';

/** `yardmaster get`: shows a job with its history. */
export const getCommand = defineCommand({
  name: 'get',
  example: 'get $JOB --no-history',
  define: (command) =>
    withServiceOptions(command.description('Show a job with its history.').argument('<jobId>', 'ID of the job'))
      .option('--no-history', 'omit the history')
      .option('--json', 'print the job as one line of JSON, as the service sent it')
      .addHelpText('after', keyHelp('jobs:read')),
  parse: (line: CommandLine<ServiceFlags & { history: boolean }>) => ({
    ...idIn(line, 'reading a job', 'jobs:read'),
    hasHistory: line.flags.history,
  }),
  async run({ service, id, hasHistory, isJson }, { out }) {
    const path = jobPath(id, '', { events: hasHistory ? null : 0 });
    const job = await call<ShownJob>(service, { path });
    if (typeof job?.id !== 'string' || (hasHistory && !Array.isArray(job.events)))
      throw new Refused('the response is not a job');
    return done(out, isJson ? [jsonLine(job)] : linesOfJob(job, out));
  },
});

/** A job, with its history unless `--no-history` omits it. */
type ShownJob = Job & { events?: JobEvent[] };

/** Fields in display order. A field that the job lacks is omitted. */
const FIELDS: [title: string, of: (job: ShownJob) => unknown][] = [
  ['id', ({ id }) => id],
  ['name', ({ name }) => name],
  ['space', ({ spaceId }) => spaceId],
  ['status', ({ status }) => status],
  ['attempts', ({ attemptNumber, maxRetries }) => `${attemptNumber} of ${maxRetries + 1}`],
  ['worker', ({ workerId }) => workerId],
  ['progress', ({ progress }) => progressTextOf(progress)],
  ['payload', ({ payload }) => payload],
  ['result', ({ result }) => result],
  ['error', ({ error }) => error && errorLine(error)],
  ['timeout', ({ timeoutSeconds }) => `${timeoutSeconds} s without a heartbeat`],
  ['max run', ({ maxRunSeconds }) => maxRunSeconds && `${maxRunSeconds} s`],
  ['start within', ({ startWithinSeconds }) => startWithinSeconds && `${startWithinSeconds} s`],
  ['retry', ({ retry }) => retry],
  ['priority', ({ priority }) => priority],
  ['unique', ({ unique }) => unique],
  ['schedule', ({ scheduleId }) => scheduleId],
  ['tags', ({ tags }) => tags?.join(', ')],
  ['callback', ({ callbackUrl }) => callbackUrl],
];

const TIMES: [title: string, of: (job: ShownJob) => string | null | undefined][] = [
  ['scheduled for', ({ scheduledFor }) => scheduledFor],
  ['created', ({ createdAt }) => createdAt],
  ['started', ({ startedAt }) => startedAt],
  ['updated', ({ updatedAt }) => updatedAt],
];

const TITLE_COLUMNS = 15;

/** Format a job for people. On a terminal, lines are cut to its width and times are local. */
function linesOfJob(job: ShownJob, out: Terminal): string[] {
  const isLocal = out.isTTY === true;
  const fit = (line: string) => (isLocal ? clip(line, sizeOf(out).columns) : line);
  const color = (paint: Color) => (isLocal ? paint : plain);
  const times = TIMES.map(([title, of]) => [title, momentOf(of(job), isLocal)] as const);
  const fields = [...FIELDS.map(([title, of]) => [title, textOf(of(job))] as const), ...times]
    .filter(([, text]) => text !== '')
    .map(([title, text]) => {
      const line = fit(`${title.padEnd(TITLE_COLUMNS)}${text}`);
      return color(title === 'status' ? colorOf(job.status) : plain)(line);
    });
  const stack = stackOf(job.error);
  if (stack !== null) fields.push(...['stack', ...stack.split('\n')].map((line) => color(dim)(fit(printable(line)))));
  if (job.events === undefined) return fields;
  const history = job.events.map((event) => {
    const message = readEvent(event);
    if (message === null) return '  an unreadable event';
    return color(colorOf(message.type))(fit(`  ${lineOf(message, { withJob: false, isLocal })}`));
  });
  return [...fields, color(dim)('history'), ...history];
}

function textOf(value: unknown): string {
  if (value === undefined || value === null) return '';
  return printable(typeof value === 'string' ? value : JSON.stringify(value));
}

function momentOf(timestamp: string | null | undefined, isLocal: boolean): string {
  if (!timestamp) return '';
  return printable(isLocal ? localMoment(timestamp) : timestamp);
}
