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
        .description('Show the settings of a space, or change them and show them then.')
        .argument('[spaceId]', 'the space (default: $YARDMASTER_SPACE)')
        .option('--set <name=value>', 'a setting, for example maxPending=1000; may be repeated', repeated)
        .option('--unset <name>', 'a setting to set back; may be repeated', repeated)
        .option('--json', 'print the settings as one line of JSON, as the service sent them'),
    ).addHelpText('after', HELP),
  parse({ args: [argument], flags, env }: CommandLine<Flags>) {
    const service = serviceOf(flags, env);
    const spaceId = spaceArgumentOf(argument, env);
    const pairs = [...(flags.set ?? []).map(pairOf), ...(flags.unset ?? []).map((name): Pair => [name, null])];
    refuseOverlaps(pairs.map(([name]) => name));
    expectKey(service, 'the settings of a space', 'spaces:manage');
    // Null to show the settings only.
    return { service, spaceId, change: pairs.length === 0 ? null : changeOf(pairs), isJson: flags.json === true };
  },
  async run({ service, spaceId, change, isJson }, { out }) {
    const path = spacePath(spaceId, 'settings');
    // A change may be sent again, because it sets what it names and nothing else.
    const request = change === null ? { path } : { method: 'PATCH' as const, path, body: change };
    const settings = await call<Settings>(service, request);
    const lines = isJson ? [jsonLine(settings)] : linesOf(settings);
    return done(out, lines);
  },
});

const HELP = `
Settings: retention.completedSeconds, retention.deadSeconds, retention.killedSeconds, maxPending, maxBytes,
defaults.maxRetries, defaults.timeoutSeconds, defaults.retry, defaults.maxRunSeconds, anonymousStreams,
requireDeliveryToken. A value is JSON:
--set defaults.retry='{"delaySeconds": 10}' --set anonymousStreams=false

Needs a key with spaces:manage.
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
 * Refuse a setting that is named twice, also as a part of its group, because one of the two would be lost.
 *
 * @throws UsageError
 */
function refuseOverlaps(names: readonly string[]): void {
  names.forEach((name, i) => {
    const isIn = (other: string, j: number) => i !== j && (name === other || name.startsWith(`${other}.`));
    const other = names.find(isIn);
    if (other === name) throw new UsageError(`${name} must be given only once, with --set or --unset`);
    if (other !== undefined) throw new UsageError(`${name} must not be given together with ${other}`);
  });
}

/** Return the body that changes these settings, whose names have dots between their parts, and do not overlap. */
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

/** Set a member by any name. A plain assignment to `__proto__` would set something else. */
const define = (group: Settings, name: string, value: unknown) =>
  Object.defineProperty(group, name, { value, writable: true, enumerable: true, configurable: true });

/** Write settings as `name value`, in a line each. */
function linesOf(settings: Settings): string[] {
  const lines = Object.entries(settings).flatMap(([name, value]) => linesOfOne(name, value));
  return lines.length === 0 ? ['nothing is set'] : lines;
}

function linesOfOne(name: string, value: unknown): string[] {
  const isGroup = name === 'retention' || name === 'defaults';
  if (!isGroup || typeof value !== 'object' || value === null) return [printable(`${name} ${JSON.stringify(value)}`)];
  return Object.entries(value).map(([inner, its]) => printable(`${name}.${inner} ${JSON.stringify(its)}`));
}
