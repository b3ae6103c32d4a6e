import { render } from 'preact';
import { restoreSession, signInNotice } from './api/session.js';
import { App } from './app.js';
import { listenToKeys } from './keyboard.js';

listenToKeys();
// The key stays in the tab, so that another reload can use it.
await restoreSession().catch(({ message }: Error) => {
  signInNotice.value = message;
});
render(<App />, document.body);
