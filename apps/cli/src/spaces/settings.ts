import { type CommandLine, defineCommand, UsageError } from '../command.js';
import { CALL_EXIT, done, exitCodesHelp } from '../exit-codes.js';
import { repeated } from '../flag-values.js';
import { expectKey, type ServiceFlags, serviceOf, spaceArgumentOf, withServiceOptions } from '../flags.js';
import { call } from '../service/call.js';
import { spacePath } from '../service/service.js';
import { jsonLine, printable } from '../terminal/printable.js';

interface Flags extends ServiceFlags {
  set?: string[];
  unset?: string[];
}

type Settings = { [name: string]: unknown };

/** `yardmaster settings`: shows the settings of a space, and changes them. */
export const settingsCommand = defineCommand({
  name: 'settings',
  example: 'settings demo --set maxPending=10000',
  define: (command) =>
    withServiceOptions(
      command
        .description('Show the settings of a space, or change them and show the result.')
        .argument('[spaceId]', 'ID of the space (default: $YARDMASTER_SPACE)')
        .option('--set <name=value>', 'change a setting, for example maxPending=1000; repeatable', repeated)
        .option('--unset <name>', 'restore the default of a setting; repeatable', repeated)
        .option('--json', 'print the settings as one line of JSON'),
    ).addHelpText('after', HELP),
  parse({ args: [argument], flags, env }: CommandLine<Flags>) {
    const service = serviceOf(flags, env);
    const spaceId = spaceArgumentOf(argument, env);
    const pairs = [...(flags.set ?? []).map(pairOf), ...(flags.unset ?? []).map((name): Pair => [name, null])];
    refuseOverlaps(pairs.map(([name]) => name));
    expectKey(service, 'managing settings', 'spaces:manage');
    // A change of null only shows the settings.
    return { service, spaceId, change: pairs.length === 0 ? null : changeOf(pairs), isJson: flags.json === true };
  },
  async run({ service, spaceId, change, isJson }, { out }) {
    const path = spacePath(spaceId, 'settings');
    // A retry is safe, because a change sets absolute values.
    const request = change === null ? { path } : { method: 'PATCH' as const, path, body: change };
    const settings = await call<Settings>(service, request);
    const lines = isJson ? [jsonLine(settings)] : linesOf(settings);
    return done(out, lines);
  },
});

const HELP = `
Settings: retention.completedSeconds, retention.deadSeconds, retention.killedSeconds, maxPending, maxBytes,
defaults.maxRetries, defaults.timeoutSeconds, defaults.retry, defaults.maxRunSeconds, anonymousStreams,
requireDeliveryToken. Values are JSON, as in --set defaults.retry='{"delaySeconds": 10}'.

Requires an API key with spaces:manage.
${exitCodesHelp(CALL_EXIT)}`;

type Pair = [name: string, value: unknown];

/** Read `name=value`. @throws UsageError */
function pairOf(text: string): Pair {
  const [, name = '', value = ''] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
  if (name === '') throw new UsageError('--set must be name=value, for example maxPending=1000');
  try {
    return [name, JSON.parse(value)];
  } catch {
    throw new UsageError(`the value of ${name} is not JSON`);
  }
}

/**
 * Reject a setting that is given twice, on its own or with its group, because one of the two would be lost.
 *
 * @throws UsageError
 */
function refuseOverlaps(names: readonly string[]): void {
  names.forEach((name, i) => {
    const isIn = (other: string, j: number) => i !== j && (name === other || name.startsWith(`${other}.`));
    const other = names.find(isIn);
    if (other === name) throw new UsageError(`${name} may be given only once, with --set or --unset`);
    if (other !== undefined) throw new UsageError(`${name} and ${other} cannot be combined`);
  });
}

/** Return the body that changes these settings. Names have dots between their parts and must not overlap. */
function changeOf(pairs: readonly Pair[]): Settings {
  const change: Settings = {};
  for (const [name, value] of pairs) {
    const parts = name.split('.');
    const last = parts.pop() as string;
    let group = change;
    for (const part of parts) {
      if (!Object.hasOwn(group, part)) define(group, part, {});
      group = group[part] as Settings;
    }
    define(group, last, value);
  }
  return change;
}

/** Set a property of any name. A plain assignment to `__proto__` would change the prototype. */
const define = (group: Settings, name: string, value: unknown) =>
  Object.defineProperty(group, name, { value, writable: true, enumerable: true, configurable: true });

/** Format settings as one `name value` line each. */
function linesOf(settings: Settings): string[] {
  const lines = Object.entries(settings).flatMap(([name, value]) => linesOfOne(name, value));
  return lines.length === 0 ? ['no settings'] : lines;
}

function linesOfOne(name: string, value: unknown): string[] {
  const isGroup = name === 'retention' || name === 'defaults';
  if (!isGroup || typeof value !== 'object' || value === null) return [printable(`${name} ${JSON.stringify(value)}`)];
  return Object.entries(value).map(([inner, its]) => printable(`${name}.${inner} ${JSON.stringify(its)}`));
}
