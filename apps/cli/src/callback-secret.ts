import { callbackSecretList } from '@yardmaster/protocol';
import { callbackSecretUrlOf } from './addresses.js';
import type { CallbackSecretRequest } from './callback-secret-command.js';
import { EXIT } from './exit-codes.js';
import { get } from './get.js';
import type { Outcome } from './outcome.js';
import { printable } from './printable.js';
import { redact } from './redact.js';

const RESPONSE_WITHIN_MS = 10_000;

/** Print the callback secrets of a space, one per line. It sends one request, because a script can run it again. */
export async function showCallbackSecrets(
  { service, spaceId }: CallbackSecretRequest,
  out: (text: string) => void,
): Promise<Outcome> {
  const url = callbackSecretUrlOf(service.url, spaceId);
  const response = await get(url, { service, signal: new AbortController().signal, withinMs: RESPONSE_WITHIN_MS });
  if (typeof response !== 'string') return { code: EXIT.refused, sentence: redact(response.sentence, service) };
  const secrets = secretsIn(response);
  if (secrets === null) return { code: EXIT.refused, sentence: 'the server did not answer with callback secrets' };
  // The code is not 0, because a script must not take an empty secret.
  if (secrets.length === 0) {
    return { code: EXIT.refused, sentence: 'callbacks are not signed: the API has no CALLBACK_SIGNING_SECRET' };
  }
  out(secrets.map((secret) => `${printable(secret)}\n`).join(''));
  return { code: EXIT.completed, sentence: null };
}

/** Read the secrets in a response; null when the response is not one of the service. */
function secretsIn(text: string): string[] | null {
  try {
    return callbackSecretList.parse(JSON.parse(text)).secrets;
  } catch {
    return null;
  }
}
