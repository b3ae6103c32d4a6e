import { computed, signal } from '@preact/signals';
import type { OwnApiKey, Scope } from '@yardmaster/protocol';
import { grantsOf } from '@yardmaster/protocol/scopes';
import { YardmasterError } from '@yardmaster/sdk/internal/errors';
import { call, setKey } from './client.js';

/** The key stays in this tab, also after a reload, and is forgotten when the tab is closed. */
const STORED = 'yardmaster-api-key';

/** The key of the person who uses the pages; null before the sign-in. */
export const ownKey = signal<OwnApiKey | null>(null);

/** Why the person was signed out; empty at first and after a sign-out of their own. */
export const signInNotice = signal('');

/** The text of the key, also of one that an earlier page of this tab stored; empty without one. */
export const keyText = (): string => sessionStorage.getItem(STORED) ?? '';

/** Number of attempts to sign in. Only the latest counts. */
let attempts = 0;

/**
 * Sign in.
 *
 * @throws YardmasterError when the key is refused, or the service does not respond
 */
export async function signIn(key: string): Promise<void> {
  // A header cannot have other characters.
  if (!/^[\x21-\x7e]+$/.test(key)) throw notValid();
  const own = ++attempts;
  setKey(key, () => signOut('The key is no longer accepted. It was revoked or has expired.'));
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

/** Forget the key. */
export function signOut(notice = ''): void {
  sessionStorage.removeItem(STORED);
  setKey(null);
  // The next person does not begin where this one was, unless it is the same one with another key.
  if (notice === '') location.hash = '';
  signInNotice.value = notice;
  ownKey.value = null;
}

const grants = computed(() => grantsOf(ownKey.value?.scopes ?? []));

/** Whether the key has a scope. The service checks each call itself; this only decides what is offered. */
export function can(scope: Scope): boolean {
  return grants.value.has(scope);
}
