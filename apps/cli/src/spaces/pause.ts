import type { Paused } from '@yardmaster/protocol';
import { type CommandLine, defineCommand } from '../command.js';
import { DONE, keyHelp } from '../exit-codes.js';
import { repeated } from '../flag-values.js';
import { type ServiceFlags, spaceArgumentIn, withServiceOptions } from '../flags.js';
import { call } from '../service/call.js';
import { type Service, spacePath } from '../service/service.js';
import { printable } from '../terminal/printable.js';

interface Flags extends ServiceFlags {
  name?: string[];
}

function pausing(name: 'pause' | 'resume', description: string) {
  return defineCommand({
    name,
    example: `${name} demo --name resize`,
    define: (command) =>
      withServiceOptions(
        command
          .description(description)
          .argument('[spaceId]', 'ID of the space (default: $YARDMASTER_SPACE)')
          .option('--name <name>', 'only jobs with this name; repeatable', repeated),
      ).addHelpText('after', keyHelp('spaces:manage')),
    parse: (line: CommandLine<Flags>) => ({
      ...spaceArgumentIn(line, name === 'pause' ? 'pausing a space' : 'resuming a space', 'spaces:manage'),
      names: line.flags.name ?? null, // Null for the whole space.
    }),
    async run({ service, spaceId, names }, { out, err }) {
      const body = names === null ? {} : { names };
      await call(service, { method: 'POST', path: spacePath(spaceId, name), body });
      const what = names === null ? spaceId : `${names.join(', ')} in ${spaceId}`;
      out.write(`${name}d ${printable(what)}\n`);
      if (name === 'resume' && names !== null && (await isPaused(service, spaceId))) {
        err.write(`the whole space is still paused; to resume it, run: yardmaster resume ${printable(spaceId)}\n`);
      }
      return DONE;
    },
  });
}

/** Whether the whole space is paused, so that resuming a name has no effect yet. */
async function isPaused(service: Service, spaceId: string): Promise<boolean> {
  const settings = await call<{ paused?: Paused } | null>(service, { path: spacePath(spaceId, 'settings') });
  return settings?.paused === true;
}

/** `yardmaster pause`, which stops claims for a space or for job names, and `yardmaster resume`, which restarts them. */
export const pauseCommands = [
  pausing('pause', 'Stop claims for a space or for certain job names, until you resume them.'),
  pausing('resume', 'Resume a space and all of its job names; with --name, only those names.'),
];
