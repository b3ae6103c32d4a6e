import { readFile } from 'node:fs/promises';
import type { SchedulesChange } from '@yardmaster/protocol';
import { type CommandLine, defineCommand, UsageError } from '../command.js';
import { done, keyHelp } from '../exit-codes.js';
import { type SpaceFlags, spaceIn, withSpaceOption } from '../flags.js';
import { jsonIn } from '../jobs/payload.js';
import { call } from '../service/call.js';
import { spacePath } from '../service/service.js';
import { jsonLine } from '../terminal/printable.js';

/** `yardmaster schedules sync`: declares all schedules of an owner. */
export const syncSchedulesCommand = defineCommand({
  name: 'schedules sync',
  example: 'schedules sync schedules.json --space demo',
  define: (command) =>
    withSpaceOption(
      command
        .description('Declare the schedules of an owner, all or none, and print what has changed.')
        .argument('<file>', 'JSON file {"owner", "schedules", "prune"}; - reads standard input'),
    )
      .option('--json', 'print the counts as one line of JSON')
      .addHelpText('after', keyHelp('schedules:manage and jobs:create')),
  parse: (line: CommandLine<SpaceFlags>) => ({
    ...spaceIn(line, 'declaring schedules', 'schedules:manage'),
    file: line.args[0] as string,
  }),
  async run({ service, spaceId, file, isJson }, { out, readInput }) {
    const body = jsonIn(await (file === '-' ? readInput() : textOf(file)), file === '-' ? 'standard input' : file);
    const counts = await call<SchedulesChange>(service, { method: 'PUT', path: spacePath(spaceId, 'schedules'), body });
    const { created, changed, unchanged, deleted } = counts;
    const line = `${created} created, ${changed} changed, ${unchanged} unchanged, ${deleted} deleted`;
    return done(out, [isJson ? jsonLine(counts) : line]);
  },
});

/** Read a file. @throws UsageError */
async function textOf(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    throw new UsageError(`cannot read the file: ${(error as Error).message}`);
  }
}
