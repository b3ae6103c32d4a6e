import type { Command } from 'commander';
import type { Service } from './addresses.js';
import {
  actionOf,
  type Env,
  HOW_TO_GIVE_A_KEY,
  type ServiceFlags,
  serviceOf,
  UsageError,
  withServiceOptions,
} from './options.js';

/** What a command line of `callback-secret` asks for. */
export interface CallbackSecretRequest {
  service: Service;
  spaceId: string;
}

/** Add `callback-secret` to a program. */
export function addCallbackSecret(
  program: Command,
  env: Env,
  run: (request: CallbackSecretRequest) => Promise<void>,
): void {
  const command = program.command('callback-secret');
  command
    .description('Print the secret by which a receiver verifies the callbacks of a space.')
    .argument('<spaceId>', 'the space');
  withServiceOptions(command)
    .addHelpText('after', HELP)
    .action(actionOf(command, (spaceId: string, flags: ServiceFlags) => run(requestOf(spaceId, flags, env))));
}

const HELP = `
Needs a key that has keys:manage. Prints one secret per line, newest first: there are several while
CALLBACK_SIGNING_SECRET is being changed. Exits with 1 when the service does not sign callbacks.
`;

function requestOf(spaceId: string, flags: ServiceFlags, env: Env): CallbackSecretRequest {
  const service = serviceOf(flags, env);
  if (spaceId === '') throw new UsageError('the id is empty');
  if (service.token === null) {
    throw new UsageError(`callback secrets are read with an API key that has keys:manage; ${HOW_TO_GIVE_A_KEY}`);
  }
  return { service, spaceId };
}
