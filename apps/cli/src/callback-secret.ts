import { callbackSecretList } from '@yardmaster/protocol';
import { callbackSecretUrlOf } from './addresses.js';
import type { CallbackSecretRequest } from './callback-secret-command.js';
import { EXIT } from './exit-codes.js';
import { get } from './get.js';
import type { Outcome } from './outcome.js';
import { printable } from './printable.js';
import { speakable } from './speakable.js';

const ANSWER_WITHIN_MS = 10_000;

/** Print the callback secrets of a space, one per line. Asks once: a script that wants to can run it again. */
export async function showCallbackSecrets(
  { service, spaceId }: CallbackSecretRequest,
  out: (text: string) => void,
): Promise<Outcome> {
  const url = callbackSecretUrlOf(service.url, spaceId);
  const answer = await get(url, { service, signal: new AbortController().signal, withinMs: ANSWER_WITHIN_MS });
  if (typeof answer !== 'string') return { code: EXIT.refused, sentence: speakable(answer.sentence, service) };
  const secrets = secretsIn(answer);
  if (secrets === null) return { code: EXIT.refused, sentence: 'the server did not answer with callback secrets' };
  // Not 0: a script must not take an empty secret.
  if (secrets.length === 0) {
    return { code: EXIT.refused, sentence: 'callbacks are not signed: the API has no CALLBACK_SIGNING_SECRET' };
  }
  out(secrets.map((secret) => `${printable(secret)}\n`).join(''));
  return { code: EXIT.completed, sentence: null };
}

/** Null when something else than the service answers there. */
function secretsIn(text: string): string[] | null {
  try {
    return callbackSecretList.parse(JSON.parse(text)).secrets;
  } catch {
    return null;
  }
}
