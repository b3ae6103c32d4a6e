import { useEffect } from 'preact/hooks';
import { call, isReachable } from './api/client.js';
import { can, ownKey, signOut } from './api/session.js';
import { Find } from './find.js';
import { Help } from './keyboard.js';
import { isPaused, type StreamState, streamState } from './live/stream.js';
import { RETRY_MS, useLoaded } from './live/use-loaded.js';
import { DialogHost, showDialog } from './parts/dialog.js';
import { ErrorNotice, NoticeHost } from './parts/notice.js';
import { Text } from './parts/show.js';
import { linkTo, route } from './route.js';
import { Audit } from './screens/audit.js';
import { JobScreen } from './screens/job/job.js';
import { Jobs } from './screens/jobs/jobs.js';
import { Keys } from './screens/keys/keys.js';
import { Operations } from './screens/operations.js';
import { Overview } from './screens/overview/overview.js';
import { Settings } from './screens/settings/settings.js';
import { SharedProgress } from './screens/shared-progress.js';
import { SignIn } from './sign-in.js';

export function App() {
  const [first, id] = route.value.path;
  // A progress link carries its own token, for people without a key.
  if (first === 'progress' && id !== undefined) return <SharedProgress key={location.hash} jobId={id} />;
  if (ownKey.value === null) return <SignIn />;
  return (
    <>
      <Header />
      <Connection />
      <main id="main" tabIndex={-1}>
        <Screen />
      </main>
      <NoticeHost />
      <DialogHost />
    </>
  );
}

function Screen() {
  const [first = '', id, part] = route.value.path;
  if (first === 'spaces' && id !== undefined) {
    if (part === 'settings') return <Settings key={id} spaceId={id} />;
    if (part === 'operations') return <Operations key={id} spaceId={id} />;
    return <Jobs key={id} spaceId={id} />;
  }
  if (first === 'jobs' && id !== undefined) return <JobScreen key={id} jobId={id} />;
  if (first === 'keys') return <Keys />;
  if (first === 'audit') return <Audit />;
  if (first === '') return <Overview />;
  return (
    <>
      <h1>Page not found</h1>
      <p>
        <a href={linkTo([])}>All spaces</a>
      </p>
    </>
  );
}

function Header() {
  const key = ownKey.value;
  const find = () => showDialog(<Find />);
  return (
    <header class="top">
      <button type="button" class="skip" onClick={() => document.getElementById('main')?.focus()}>
        Skip to content
      </button>
      <a class="name" href={linkTo([])}>
        Yardmaster
      </a>
      <button type="button" class="find" onClick={find} aria-keyshortcuts="Control+K Meta+K">
        Find a job, name or tag <kbd>Ctrl K</kbd>
      </button>
      <nav aria-label="Pages">
        <NavLink path={[]} title="Spaces" />
        {can('keys:manage') && <NavLink path={['keys']} title="Keys" />}
        {can('keys:manage') && <NavLink path={['audit']} title="Audit" />}
      </nav>
      <Live />
      <span class="own-key">
        key: <Text>{key?.name ?? ''}</Text>
      </span>
      <button
        type="button"
        onClick={() => showDialog(<Help />)}
        aria-label="Keyboard shortcuts"
        title="Keyboard shortcuts"
      >
        ?
      </button>
      <button type="button" onClick={() => signOut()}>
        Sign out
      </button>
    </header>
  );
}

function NavLink({ path, title }: { path: string[]; title: string }) {
  const isHere = (route.value.path[0] ?? '') === (path[0] ?? '');
  return (
    <a href={linkTo(path)} aria-current={isHere ? 'page' : undefined}>
      {title}
    </a>
  );
}

const STATE_TEXT: Record<StreamState, string> = {
  connecting: 'connecting',
  live: 'live',
  broken: 'reconnecting',
  paused: 'updates paused',
  refused: 'not live: the service refused the stream',
  ended: 'the job has ended',
};

/** Show the state of live updates, with a button that pauses them. */
function Live() {
  const state = isPaused.value ? 'paused' : streamState.value;
  const toggle = () => (isPaused.value = !isPaused.value);
  useEffect(() => () => (isPaused.value = false), []); // The next user starts unpaused.
  return (
    <span class="live">
      <span class={state === null ? '' : `mark ${state}`} role="status">
        {state !== null && STATE_TEXT[state]}
      </span>
      <button type="button" onClick={toggle}>
        {isPaused.value ? 'Go live' : 'Pause updates'}
      </button>
    </span>
  );
}

function Connection() {
  const isAway = !isReachable.value;
  // The page may load nothing else that would notice the recovery.
  useLoaded('info', isAway ? (signal) => call('GET', 'info', { signal }) : null, RETRY_MS);
  return (
    <ErrorNotice>
      {isAway && 'The service is not responding. This page shows the latest data it has, and keeps retrying.'}
    </ErrorNotice>
  );
}
