import { callbackSecretList } from '@yardmaster/protocol';
import { type CommandLine, defineCommand } from '../command.js';
import { done, EXIT, type Outcome } from '../exit-codes.js';
import { type ServiceFlags, spaceArgumentIn, withServiceOptions } from '../flags.js';
import { call } from '../service/call.js';
import { spacePath } from '../service/service.js';
import { printable } from '../terminal/printable.js';

/** `yardmaster callback-secret`: prints the callback secrets of a space. */
export const callbackSecretCommand = defineCommand({
  name: 'callback-secret',
  example: 'callback-secret demo',
  define: (command) =>
    withServiceOptions(
      command
        .description('Print the secret with which a receiver verifies the callbacks of a space.')
        .argument('[spaceId]', 'ID of the space (default: $YARDMASTER_SPACE)'),
    ).addHelpText('after', HELP),
  parse: (line: CommandLine<ServiceFlags>) => spaceArgumentIn(line, 'reading callback secrets', 'keys:manage'),
  async run({ service, spaceId }, { out }) {
    // Sent once: a script can run the command again.
    const response = await call(service, { path: spacePath(spaceId, 'callback-secret') }, { resendForMs: 0 });
    const { success, data } = callbackSecretList.safeParse(response);
    if (!success) return refused('the response does not contain callback secrets');
    const { secrets } = data;
    // Not exit code 0, because a script must not use an empty secret.
    if (secrets.length === 0) return refused('callbacks are not signed: the API has no CALLBACK_SIGNING_SECRET');
    return done(out, secrets.map(printable));
  },
});

const HELP = `
Requires an API key with keys:manage. Prints one secret per line, newest first; there are several while
CALLBACK_SIGNING_SECRET is being rotated. Exits with 1 if the service doesn't sign callbacks.
`;

const refused = (sentence: string): Outcome => ({ exit: EXIT.refused, sentence });
