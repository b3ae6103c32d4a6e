import { useSignal } from '@preact/signals';
import { signIn, signInNotice } from './api/session.js';
import { Field } from './parts/field.js';

export function SignIn() {
  const key = useSignal('');
  const error = useSignal('');
  const isRunning = useSignal(false);
  const submit = async (event: Event) => {
    event.preventDefault();
    isRunning.value = true;
    error.value = '';
    signInNotice.value = '';
    try {
      await signIn(key.value.trim());
    } catch (thrown) {
      error.value = (thrown as Error).message;
    } finally {
      isRunning.value = false;
    }
  };
  return (
    <main class="sign-in">
      <h1>Yardmaster</h1>
      <form onSubmit={submit}>
        <Field label="API key" hint="A key with the scope jobs:read can look at everything, and change nothing.">
          <input
            type="password"
            autocomplete="off"
            autofocus
            spellcheck={false}
            required
            value={key.value}
            onInput={(event) => {
              key.value = event.currentTarget.value;
            }}
          />
        </Field>
        {(error.value || signInNotice.value) && (
          <p class="notice bad" role="alert">
            {error.value || signInNotice.value}
          </p>
        )}
        <p class="buttons">
          <button type="submit" class="primary" disabled={isRunning.value}>
            Sign in
          </button>
        </p>
      </form>
      <p class="hint">
        The key stays in this tab, and is forgotten when you close it. <code>npm start</code> prints one; on a server,
        ask its operator.
      </p>
    </main>
  );
}
