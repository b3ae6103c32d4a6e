import { createHmac } from 'node:crypto';
import { z } from 'zod';

/**
 * Derive the keys that sign the callbacks of a space: HMAC-SHA256(master, "callback:" + spaceId). With one key for all
 * spaces, a producer could have any body signed for the receiver of another tenant.
 *
 * @param masters the keys of CALLBACK_SIGNING_SECRET, newest first
 * @returns 32 bytes for each master, in the same order
 */
export function callbackKeys(masters: readonly Buffer[], spaceId: string): Buffer[] {
  return masters.map((master) => createHmac('sha256', master).update(`callback:${spaceId}`).digest());
}

/** Write the keys of a space in the form that its receivers expect: `whsec_` and base64, as in Standard Webhooks. */
export function callbackSecrets(masters: readonly Buffer[], spaceId: string): string[] {
  return callbackKeys(masters, spaceId).map((key) => `whsec_${key.toString('base64')}`);
}

/** Response of Get Callback Secrets (our addition). */
export const callbackSecretList = z
  .object({
    secrets: z
      .array(z.string())
      .describe('`whsec_` and base64, newest first; empty when the service does not sign callbacks'),
  })
  .meta({ id: 'CallbackSecretList' });
export type CallbackSecretList = z.output<typeof callbackSecretList>;
