import { MISSED, OVERLAPS, type Schedule } from '@yardmaster/protocol';
import { Option } from 'commander';
import { type CommandLine, defineCommand } from '../command.js';
import { done, keyHelp } from '../exit-codes.js';
import { momentOf, secondsOf } from '../flag-values.js';
import { type SpaceFlags, withSpaceOption } from '../flags.js';
import { bodyOf, type JobFlags, withJobOptions } from '../jobs/create-options.js';
import { payloadIn, withPayload } from '../jobs/payload.js';
import { call, Refused } from '../service/call.js';
import { jsonLine, printable } from '../terminal/printable.js';
import { scheduleIn, schedulePath } from './target.js';

interface Flags extends SpaceFlags, JobFlags {
  cron?: string;
  every?: number;
  timezone?: string;
  overlap?: string;
  missed?: string;
  missedWithin?: number;
  spread?: number;
  startsAt?: string;
  endsAt?: string;
  owner?: string;
}

/** `yardmaster schedules put`: creates a schedule, or replaces an existing one. */
export const putScheduleCommand = defineCommand({
  name: 'schedules put',
  example: "schedules put nightly report --cron '0 3 * * *' --timezone Europe/Berlin --space demo",
  define: (command) =>
    withSpaceOption(
      withJobOptions(
        command
          .description('Create a schedule, or replace an existing one, and print its next time.')
          .argument('<scheduleId>', 'ID of the schedule')
          .argument('<name>', 'name of its jobs, such as report')
          .argument('[payload]', 'JSON object for the worker; - reads it from standard input')
          .option('--cron <expression>', 'create jobs at these times: minute, hour, day of month, month, day of week')
          .option('--every <time>', 'create a job at this interval, such as 10m', secondsOf)
          .option('--timezone <name>', 'IANA time zone of --cron, such as Europe/Berlin (default: UTC)')
          .addOption(
            new Option('--overlap <policy>', 'what to do if the last job has not ended (default: skip)').choices(
              OVERLAPS,
            ),
          )
          .addOption(new Option('--missed <policy>', 'what to do after missed times (default: once)').choices(MISSED))
          .option('--missed-within <time>', 'always skip missed times older than this (default: 1d)', secondsOf)
          .option('--spread <time>', 'run each time up to this much later', secondsOf)
          .option('--starts-at <time>', 'earliest run, ISO 8601 with a time zone', momentOf)
          .option('--ends-at <time>', 'latest run, ISO 8601 with a time zone', momentOf)
          .option('--owner <name>', 'who declares the schedule; others cannot change it'),
      ),
    )
      .option('--json', 'print the schedule as one line of JSON')
      .addHelpText('after', keyHelp('schedules:manage and jobs:create')),
  parse(line: CommandLine<Flags>) {
    const { args, flags } = line;
    const { every, missedWithin, spread, cron, timezone, overlap, missed, startsAt, endsAt, owner } = flags;
    const seconds = { everySeconds: every, missedWithinSeconds: missedWithin, spreadSeconds: spread };
    return {
      ...scheduleIn(line, 'putting a schedule', 'schedules:manage'),
      schedule: { ...seconds, cron, timezone, overlap, missed, startsAt, endsAt, owner },
      job: { name: args[1] as string, ...bodyOf(flags) },
      payload: payloadIn(args[2]),
    };
  },
  async run({ service, schedule, job, payload, isJson, ...target }, io) {
    const body = { ...schedule, job: await withPayload(job, payload, io) };
    const stored = await call<Schedule>(service, { method: 'PUT', path: schedulePath(target), body });
    if (typeof stored?.id !== 'string') throw new Refused('the response is not a schedule');
    const { id, nextAt, paused } = stored;
    const next = paused ? 'paused' : nextAt === null ? 'no time is left' : `next at ${nextAt}`;
    return done(io.out, [isJson ? jsonLine(stored) : printable(`saved ${id}, ${next}`)]);
  },
});
