import type { Paused } from '@yardmaster/protocol';
import type { CliCommand } from '../command.js';
import { CALL_EXIT, exitCodesHelp } from '../exit-codes.js';
import { repeated } from '../flag-values.js';
import { expectKey, type ServiceFlags, serviceOf, spaceArgumentOf, withServiceOptions } from '../flags.js';
import { callJson } from '../service/call.js';
import { type Service, spacePath } from '../service/service.js';
import { printable } from '../terminal/printable.js';

interface Flags extends ServiceFlags {
  name?: string[];
}

/** Parsed command line of `pause` and `resume`. */
export interface PauseCommandRequest {
  service: Service;
  spaceId: string;
  /** Null for the whole space. */
  names: string[] | null;
}

function pausing(name: 'pause' | 'resume', description: string): CliCommand<PauseCommandRequest, Flags> {
  return {
    name,
    define: (command) =>
      withServiceOptions(
        command
          .description(description)
          .argument('[spaceId]', 'the space (default: $YARDMASTER_SPACE)')
          .option(
            '--name <name>',
            'only jobs of this name; repeat it for several, because a name may have commas',
            repeated,
          ),
      ).addHelpText('after', `\nNeeds a key with spaces:manage.\n${exitCodesHelp(CALL_EXIT)}`),
    parse([argument], flags, env) {
      const service = serviceOf(flags, env);
      const spaceId = spaceArgumentOf(argument, env);
      expectKey(service, `the ${name} of a space`, 'spaces:manage');
      return { service, spaceId, names: flags.name ?? null };
    },
    async run({ service, spaceId, names }, { out, err }) {
      const body = names === null ? {} : { names };
      await callJson(service, { method: 'POST', path: spacePath(spaceId, name), body });
      const what = names === null ? spaceId : `${names.join(', ')} in ${spaceId}`;
      out.write(`${name}d ${printable(what)}\n`);
      if (name === 'resume' && names !== null && (await isPaused(service, spaceId))) {
        err.write(`the whole space is still paused; end that with: yardmaster resume ${printable(spaceId)}\n`);
      }
      return { exit: CALL_EXIT.done, sentence: null };
    },
  };
}

/** Whether the whole space is paused, so that the end of the pause of a name has no effect. */
async function isPaused(service: Service, spaceId: string): Promise<boolean> {
  const settings = await callJson<{ paused?: Paused } | null>(service, { path: spacePath(spaceId, 'settings') });
  return settings?.paused === true;
}

/** `yardmaster pause`: stop claims for a space, or for some names. */
export const pauseCommand = pausing('pause', 'Hand out no job of a space, or of some names, until it is resumed.');

/** `yardmaster resume`: ends a pause. */
export const resumeCommand = pausing(
  'resume',
  'End every pause of a space; with --name only that of these names, while the space itself is not paused.',
);
