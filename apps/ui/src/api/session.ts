import { computed, signal } from '@preact/signals';
import type { OwnApiKey, Scope } from '@yardmaster/protocol';
import { grantsOf } from '@yardmaster/protocol/scopes';
import { YardmasterError } from '@yardmaster/sdk/internal/errors';
import { call, setKey } from './client.js';

/** The key is kept in this tab across reloads, and forgotten when the tab is closed. */
const STORED = 'yardmaster-api-key';

/** The key of the signed-in user; null before sign-in. */
export const ownKey = signal<OwnApiKey | null>(null);

/** Why the user was signed out; empty at first, and after signing out themselves. */
export const signInNotice = signal('');

/** Return the key that is stored in this tab; empty without one. */
export const keyText = (): string => sessionStorage.getItem(STORED) ?? '';

/** Number of sign-in attempts. Only the latest one counts. */
let attempts = 0;

/**
 * Sign in.
 *
 * @throws YardmasterError if the key is refused or the service does not respond
 */
export async function signIn(key: string): Promise<void> {
  // A header can't contain other characters.
  if (!/^[\x21-\x7e]+$/.test(key)) throw notValid();
  const own = ++attempts;
  setKey(key, () => signOut('This key no longer works. It was revoked or has expired.'));
  try {
    const self = await call<OwnApiKey>('GET', 'keys/self');
    if (own !== attempts) return;
    sessionStorage.setItem(STORED, key);
    signInNotice.value = '';
    ownKey.value = self;
  } catch (error) {
    if (own !== attempts) return;
    throw error instanceof YardmasterError && error.status === 401 ? notValid() : error;
  }
}

const notValid = () => new YardmasterError('UNAUTHENTICATED', 'This key is not valid', { status: 401 });

/** Sign out and forget the key. */
export function signOut(notice = ''): void {
  sessionStorage.removeItem(STORED);
  setKey(null);
  // The next user starts on the first page, unless the same user has to sign in again.
  if (notice === '') location.hash = '';
  signInNotice.value = notice;
  ownKey.value = null;
}

const grants = computed(() => grantsOf(ownKey.value?.scopes ?? []));

/** Whether the key has a scope. This only decides what to show: the service checks every call. */
export function can(scope: Scope): boolean {
  return grants.value.has(scope);
}
