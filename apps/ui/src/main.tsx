import type { YardmasterError } from '@yardmaster/sdk/internal/errors';
import { render } from 'preact';
import { keyText, ownKey, signIn, signInNotice } from './api/session.js';
import { App } from './app.js';
import { listenToKeys } from './keyboard.js';
import { RETRY_MS } from './live/use-loaded.js';

listenToKeys();
await restore();
render(<App />, document.body);

/** Sign in with the key stored in this tab. Retry while the service can't tell whether the key is valid. */
async function restore(): Promise<void> {
  try {
    if (keyText() !== '') await signIn(keyText());
  } catch (error) {
    const isRefused = (error as YardmasterError).status === 401;
    signInNotice.value = isRefused
      ? (error as Error).message
      : `${(error as Error).message}. This page keeps retrying.`;
    if (!isRefused) setTimeout(() => ownKey.value === null && restore(), RETRY_MS);
  }
}
