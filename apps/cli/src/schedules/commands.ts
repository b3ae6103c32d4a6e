import { LIMITS, type Schedule, type ScheduleWithTimes } from '@yardmaster/protocol';
import { type CommandLine, defineCommand } from '../command.js';
import { done, keyHelp } from '../exit-codes.js';
import { type SpaceFlags, spaceIn, withSpaceOption } from '../flags.js';
import { payloadIn, withPayload } from '../jobs/payload.js';
import { call, Refused, readRows } from '../service/call.js';
import { spacePath } from '../service/service.js';
import { jsonLine, printable } from '../terminal/printable.js';
import { type Column, tableOf } from '../terminal/table.js';
import { putScheduleCommand } from './put.js';
import { syncSchedulesCommand } from './sync.js';
import { scheduleIn, schedulePath } from './target.js';

const ID = ['<scheduleId>', 'ID of the schedule'] as const;
const CHANGE_HELP = keyHelp('schedules:manage and jobs:create');

const COLUMNS: Column<Schedule>[] = [
  { title: 'ID', of: ({ id }) => id },
  {
    title: 'WHEN',
    of: ({ cron, everySeconds, timezone }) => (cron ? `${cron} ${timezone}` : `every ${everySeconds}s`),
  },
  { title: 'NEXT', of: ({ paused, nextAt }) => (paused ? 'paused' : (nextAt ?? '')) },
  { title: 'LAST', of: ({ lastAt }) => lastAt ?? '' },
  { title: 'FIRED', of: ({ fired }) => String(fired), isNumber: true },
  { title: 'SKIPPED', of: ({ skipped }) => String(skipped), isNumber: true },
];

/** `yardmaster schedules list`: lists the schedules of a space. */
const listSchedulesCommand = defineCommand({
  name: 'schedules list',
  example: 'schedules list --space demo',
  define: (command) =>
    withSpaceOption(command.description('List the schedules of a space, oldest first.'))
      .option('--json', 'print each schedule as one line of JSON')
      .addHelpText('after', keyHelp('jobs:read')),
  parse: (line: CommandLine<SpaceFlags>) => spaceIn(line, 'listing schedules', 'jobs:read'),
  async run({ service, spaceId, isJson }, { out }) {
    const { rows } = await readRows<Schedule>(service, {
      path: spacePath(spaceId, 'schedules'),
      member: 'schedules',
      pageName: 'a list of schedules',
      pageMax: LIMITS.schedulesMax,
      limit: Number.POSITIVE_INFINITY,
    });
    return done(out, isJson ? rows.map(jsonLine) : tableOf(COLUMNS, rows, out));
  },
});

/** `yardmaster schedules get`: shows a schedule with its next times. */
const getScheduleCommand = defineCommand({
  name: 'schedules get',
  example: 'schedules get nightly --space demo',
  define: (command) =>
    withSpaceOption(command.description('Show a schedule with its next times.').argument(...ID))
      .option('--json', 'print the schedule as one line of JSON')
      .addHelpText('after', keyHelp('jobs:read')),
  parse: (line: CommandLine<SpaceFlags>) => scheduleIn(line, 'reading a schedule', 'jobs:read'),
  async run({ service, isJson, ...target }, { out }) {
    const schedule = await call<ScheduleWithTimes>(service, { path: schedulePath(target) });
    if (typeof schedule?.id !== 'string') throw new Refused('the response is not a schedule');
    return done(out, isJson ? [jsonLine(schedule)] : linesOf(schedule));
  },
});

const NAME_COLUMNS = 21;

/** Format a schedule as one line for each field, under its API name. */
const linesOf = (schedule: ScheduleWithTimes): string[] =>
  Object.entries(schedule)
    .filter(([, value]) => value !== null)
    .map(([name, value]) => name.padEnd(NAME_COLUMNS) + (typeof value === 'string' ? value : JSON.stringify(value)))
    .map(printable);

/** `yardmaster schedules run`: creates a job of a schedule immediately. */
const runScheduleCommand = defineCommand({
  name: 'schedules run',
  example: `schedules run nightly '{"kind": "weekly"}' --space demo`,
  define: (command) =>
    withSpaceOption(
      command
        .description('Create a job of a schedule immediately, and print its ID.')
        .argument(...ID)
        .argument('[payload]', 'different payload, a JSON object; - reads it from standard input'),
    ).addHelpText('after', CHANGE_HELP),
  parse: (line: CommandLine<SpaceFlags>) => ({
    ...scheduleIn(line, 'running a schedule', 'schedules:manage'),
    payload: payloadIn(line.args[1]),
  }),
  async run({ service, payload, ...target }, io) {
    const path = schedulePath(target, '/run');
    const body = await withPayload({}, payload, io);
    const job = await call<{ id?: unknown }>(service, { isOnce: true, method: 'POST', path, body });
    if (typeof job?.id !== 'string') throw new Refused('the response is not a job');
    return done(io.out, [printable(job.id)]);
  },
});

function pausing(verb: 'pause' | 'resume', description: string) {
  return defineCommand({
    name: `schedules ${verb}`,
    example: `schedules ${verb} nightly --space demo`,
    define: (command) =>
      withSpaceOption(command.description(description).argument(...ID)).addHelpText('after', CHANGE_HELP),
    parse: (line: CommandLine<SpaceFlags>) =>
      scheduleIn(line, verb === 'pause' ? 'pausing a schedule' : 'resuming a schedule', 'schedules:manage'),
    async run({ service, ...target }, { out }) {
      const body = { paused: verb === 'pause' };
      await call(service, { method: 'PATCH', path: schedulePath(target), body });
      return done(out, [`${verb}d ${printable(target.id)}`]);
    },
  });
}

/** `yardmaster schedules delete`: deletes a schedule. */
const deleteScheduleCommand = defineCommand({
  name: 'schedules delete',
  example: 'schedules delete nightly --space demo',
  define: (command) =>
    withSpaceOption(
      command.description('Delete a schedule. The jobs that it has created stay.').argument(...ID),
    ).addHelpText('after', CHANGE_HELP),
  parse: (line: CommandLine<SpaceFlags>) => scheduleIn(line, 'deleting a schedule', 'schedules:manage'),
  async run({ service, ...target }, { out }) {
    await call(service, { isOnce: true, method: 'DELETE', path: schedulePath(target) });
    return done(out, [`deleted ${printable(target.id)}`]);
  },
});

/** Commands for schedules, in the order of the help. */
export const scheduleCommands = [
  putScheduleCommand,
  syncSchedulesCommand,
  listSchedulesCommand,
  getScheduleCommand,
  runScheduleCommand,
  pausing('pause', 'Stop creating jobs until you resume the schedule.'),
  pausing('resume', 'Create jobs again, from the next time on.'),
  deleteScheduleCommand,
];
