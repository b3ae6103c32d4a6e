import { useSignal } from '@preact/signals';
import { signIn, signInNotice } from './api/session.js';
import { Field, TextInput, useSubmit } from './parts/form.js';
import { ErrorNotice } from './parts/notice.js';

export function SignIn() {
  const key = useSignal('');
  const { submit, error, isRunning } = useSubmit(() => {
    signInNotice.value = '';
    return signIn(key.value.trim());
  });
  return (
    <main class="sign-in">
      <h1>Yardmaster</h1>
      <form onSubmit={submit}>
        <Field label="API key" hint="To look without changing anything, use a key with the scope jobs:read.">
          <TextInput type="password" autocomplete="off" autofocus spellcheck={false} required text={key} />
        </Field>
        <ErrorNotice>{error.value || signInNotice.value}</ErrorNotice>
        <p class="buttons">
          <button type="submit" class="primary" disabled={isRunning.value}>
            Sign in
          </button>
        </p>
      </form>
      <p class="hint">
        The key stays in this tab and is forgotten when you close it. <code>npm start</code> prints a key; otherwise,
        ask the operator of the service.
      </p>
    </main>
  );
}
