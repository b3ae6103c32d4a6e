import type { Paused } from '@yardmaster/protocol';
import { call, segment } from '../../api/client.js';
import { can } from '../../api/session.js';
import { useLoaded } from '../../live/use-loaded.js';
import { confirm } from '../../parts/dialog.js';
import { ErrorNotice } from '../../parts/notice.js';
import { pauseEffect } from './pause-effect.js';
import { type ConfirmPause, Names, type PauseState } from './pause-names.js';

const EVERY_MS = 10_000;

/** What is paused in a space, and buttons that change it. */
export function Pauses({ spaceId }: { spaceId: string }) {
  const space = `spaces/${segment(spaceId)}`;
  // Both responses have `paused`; statistics need a scope that an operator may lack.
  const source = can('jobs:read') ? 'stats' : 'settings';
  const load = (signal: AbortSignal) => call<PauseState>('GET', `${space}/${source}`, { signal });
  const { value, error } = useLoaded(spaceId, load, EVERY_MS);
  const state = value.value;

  const confirmPause: ConfirmPause = (verb, names) => {
    const subject = names === null ? `the space ${spaceId}` : `jobs with the name ${names.join(', ')}`;
    confirm({
      title: (
        <>
          {verb} <bdi>{subject}</bdi>?
        </>
      ),
      verb,
      children: <p>{pauseEffect(verb, names)}</p>,
      run: async () => {
        await call('POST', `${space}/${verb.toLowerCase()}`, { body: { names } });
        return `${verb}d ${subject}`;
      },
    });
  };
  return (
    <section aria-labelledby="pause-title">
      <h2 id="pause-title">Pause</h2>
      <ErrorNotice>{error.value?.message}</ErrorNotice>
      {state !== null && <WholeSpace paused={state.paused} confirmPause={confirmPause} />}
      {state !== null && state.paused !== true && <Names state={state} confirmPause={confirmPause} />}
    </section>
  );
}

function WholeSpace({ paused, confirmPause }: { paused: Paused; confirmPause: ConfirmPause }) {
  const isPaused = paused === true;
  return (
    <>
      <p>
        {isPaused && 'The whole space is paused.'}
        {paused === undefined && 'Nothing is paused.'}
        {Array.isArray(paused) && `Jobs of ${paused.length === 1 ? '1 name' : `${paused.length} names`} are paused.`}
      </p>
      <p class="buttons">
        {!isPaused && (
          <button type="button" onClick={() => confirmPause('Pause', null)}>
            Pause the space …
          </button>
        )}
        {paused !== undefined && (
          <button type="button" onClick={() => confirmPause('Resume', null)}>
            Resume the space …
          </button>
        )}
      </p>
    </>
  );
}
