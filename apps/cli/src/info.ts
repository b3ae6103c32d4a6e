import { type CommandLine, defineCommand } from './command.js';
import { CALL_EXIT, type ExitCode, exitCodesHelp } from './exit-codes.js';
import { type SpaceFlags, serviceOf, withSpaceOption } from './flags.js';
import { call, Refused, Unavailable } from './service/call.js';
import { type Service, spacePath } from './service/service.js';
import { printable, printableJson } from './terminal/printable.js';
import { VERSION } from './version.js';

interface Flags extends SpaceFlags {}

/** `yardmaster info`: shows the service, and whether the URL and the API key work. */
export const infoCommand = defineCommand({
  name: 'info',
  example: 'info --url https://yard.example.com',
  define: (command) =>
    withSpaceOption(
      command.description(
        'Show the versions of the CLI and the service, the profile, and whether the URL and the API key work.',
      ),
    )
      .option('--json', 'print one line of JSON')
      .addHelpText('after', `\nRequests are not retried.\n${exitCodesHelp(CALL_EXIT)}`),
  parse({ flags, env }: CommandLine<Flags>) {
    const spaceId = flags.space ?? (env.YARDMASTER_SPACE || null);
    const profile = env.YARDMASTER_PROFILE ?? null; // Already resolved from the option, the variable or the file.
    return { service: serviceOf(flags, env), spaceId, profile, isJson: flags.json ?? false };
  },
  async run({ service, spaceId, profile, isJson }, { out }) {
    const found = await checkService(service, spaceId);
    const { version, features, key, space } = found;
    const lines = [
      `cli       ${VERSION}`,
      ...(profile === null ? [] : [`profile   ${printable(profile)}`]),
      `service   ${version ?? 'unknown'} at ${service.url.origin}`,
      ...(features === null ? [] : [`features  ${features.join(', ')}`]),
      ...(key === null ? [] : [`key       ${key}`]),
      ...(space === null ? [] : [`space     ${space}`]),
    ];
    const { exit, problem, ...shown } = found;
    const json = JSON.stringify({ command: VERSION, profile, url: service.url.href, ...shown, problem });
    out.write(isJson ? `${printableJson(json)}\n` : lines.map((line) => `${line}\n`).join(''));
    return { exit, sentence: problem };
  },
});

interface Found {
  /** Version of the service; null if it did not respond. */
  version: string | null;
  features: string[] | null;
  /** Whether the key works; null if it was not tried. */
  key: string | null;
  /** What the key may do in the space; null if it was not tried. */
  space: string | null;
  exit: ExitCode;
  /** What is wrong and what to do; null if everything works. */
  problem: string | null;
}

async function checkService(service: Service, spaceId: string | null): Promise<Found> {
  const found: Found = { version: null, features: null, key: null, space: null, exit: CALL_EXIT.done, problem: null };
  const fail = (exit: ExitCode, problem: string) => ({ ...found, exit, problem });
  try {
    const info = await read<{ service?: unknown; version?: unknown; features?: unknown }>(service, 'info');
    if (info?.service !== 'yardmaster') return fail(CALL_EXIT.refused, anotherServer(service));
    found.version = printable(String(info.version));
    found.features = Array.isArray(info.features) ? info.features.map((name) => printable(String(name))) : [];
  } catch (error) {
    if (error instanceof Refused) return fail(CALL_EXIT.refused, `${anotherServer(service)} (${error.message})`);
    if (error instanceof Unavailable) return fail(CALL_EXIT.unavailable, unreachable(service, error.message));
    throw error;
  }
  if (service.token === null) return fail(CALL_EXIT.refused, 'no API key is set; set YARDMASTER_API_KEY');
  return { ...found, ...(await checkKey(service, spaceId)) };
}

/** Try the key. Any call that requires one will do, because a valid key without the scope gets FORBIDDEN, not 401. */
async function checkKey(service: Service, spaceId: string | null): Promise<Partial<Found>> {
  try {
    const key = (await refusalOf(service, 'keys')) === null ? 'works, and can manage keys' : 'works';
    if (spaceId === null) return { key };
    const refusal = await refusalOf(service, spacePath(spaceId, 'jobs', { limit: 1 }));
    return { key, space: `${printable(spaceId)}: ${refusal ?? 'the key can read its jobs'}` };
  } catch (error) {
    if (error instanceof Unavailable) return { exit: CALL_EXIT.unavailable, problem: error.message };
    if (!(error instanceof Refused)) throw error;
    if (error.status !== 401) return { exit: CALL_EXIT.refused, problem: error.message };
    const problem = 'the API key is unknown, revoked or expired; set YARDMASTER_API_KEY';
    return { key: 'does not work', exit: CALL_EXIT.refused, problem };
  }
}

const read = <T>(service: Service, path: string) => call<T>(service, { path }, { resendForMs: 0 });

/** Try a call. Return why the key may not make it, or null if it may. Throws all other refusals. */
async function refusalOf(service: Service, path: string): Promise<string | null> {
  try {
    await read(service, path);
    return null;
  } catch (error) {
    if (error instanceof Refused && error.code === 'FORBIDDEN') return error.message;
    throw error;
  }
}

const anotherServer = ({ url }: Service) =>
  `the server at ${url.origin} is not Yardmaster; set YARDMASTER_URL to its address, without /api/v1`;

const REASONS: Record<string, string> = {
  ECONNREFUSED: 'connection refused',
  ENOTFOUND: 'unknown host',
  EAI_AGAIN: 'cannot resolve the host name right now',
};

function unreachable({ url }: Service, reason: string): string {
  const meaning = REASONS[/E[A-Z_]{6,}/.exec(reason)?.[0] ?? ''] ?? reason;
  return `cannot connect to ${url.origin} (${meaning}); is YARDMASTER_URL correct?`;
}
