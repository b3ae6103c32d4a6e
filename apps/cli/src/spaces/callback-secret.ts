import { callbackSecretList } from '@yardmaster/protocol';
import { type CommandLine, defineCommand } from '../command.js';
import { done, EXIT, type Outcome } from '../exit-codes.js';
import { type ServiceFlags, spaceArgumentIn, withServiceOptions } from '../flags.js';
import { call, Refused, Unavailable } from '../service/call.js';
import { spacePath } from '../service/service.js';
import { printable } from '../terminal/printable.js';

/** `yardmaster callback-secret`: prints the callback secrets of a space. */
export const callbackSecretCommand = defineCommand({
  name: 'callback-secret',
  define: (command) =>
    withServiceOptions(
      command
        .description('Print the secret by which a receiver verifies the callbacks of a space.')
        .argument('[spaceId]', 'the space (default: $YARDMASTER_SPACE)'),
    ).addHelpText('after', HELP),
  parse: (line: CommandLine<ServiceFlags>) => spaceArgumentIn(line, 'reading callback secrets', 'keys:manage'),
  async run({ service, spaceId }, { out }) {
    const request = { path: spacePath(spaceId, 'callback-secret') };
    // It sends one request, because a script can run the command again.
    const options = { service, signal: new AbortController().signal, withinMs: RESPONSE_WITHIN_MS, resendForMs: 0 };
    const response = await call(request, options).catch(refusalOf);
    if (response instanceof Error) return refused(response.message);
    const secrets = secretsIn(response.text);
    if (secrets === null) return refused('the response does not contain callback secrets');
    // The code is not 0, because a script must not take an empty secret.
    if (secrets.length === 0) return refused('callbacks are not signed: the API has no CALLBACK_SIGNING_SECRET');
    return done(out, secrets.map(printable));
  },
});

const RESPONSE_WITHIN_MS = 10_000;

const HELP = `
Needs a key with keys:manage. Prints one secret per line, newest first. There are several while CALLBACK_SIGNING_SECRET
is being changed. Exits with 1 when the service does not sign callbacks.
`;

const refused = (sentence: string): Outcome => ({ exit: EXIT.refused, sentence });

function refusalOf(error: unknown): Error {
  if (error instanceof Refused || error instanceof Unavailable) return error;
  throw error;
}

/** Read the secrets in a response; null when the response is not one of the service. */
function secretsIn(text: string): string[] | null {
  try {
    return callbackSecretList.parse(JSON.parse(text)).secrets;
  } catch {
    return null;
  }
}
