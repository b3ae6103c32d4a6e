import { useSignal } from '@preact/signals';
import type { NameStats, Paused } from '@yardmaster/protocol';
import { call, segment } from '../../api/client.js';
import { can } from '../../api/session.js';
import { useLoaded } from '../../live/use-loaded.js';
import { confirm } from '../../parts/dialog.js';
import { Field, TextInput } from '../../parts/form.js';
import { count } from '../../parts/format.js';
import { ErrorNotice } from '../../parts/notice.js';
import { Text } from '../../parts/show.js';
import { type Column, RowButton, Table } from '../../parts/table.js';

const EVERY_MS = 10_000;

/** Describe the effect of a pause or resume; names of null mean the whole space. */
export function pauseEffect(verb: 'Pause' | 'Resume', names: string[] | null): string {
  if (verb === 'Pause') return 'Workers cannot claim these jobs. You can still create them, and running jobs continue.';
  return names === null
    ? 'Workers can claim jobs again. This also resumes all paused names.'
    : 'Workers can claim these jobs again.';
}

/** Show what is paused in a space, with buttons to pause and resume. */
export function Pauses({ spaceId }: { spaceId: string }) {
  const space = `spaces/${segment(spaceId)}`;
  // Both responses contain `paused`, but statistics require a scope that the user may lack.
  const source = can('jobs:read') ? 'stats' : 'settings';
  const load = (signal: AbortSignal) => call<PauseState>('GET', `${space}/${source}`, { signal });
  const { value, error } = useLoaded(spaceId, load, EVERY_MS);
  const state = value.value;

  const confirmPause: ConfirmPause = (verb, names) => {
    const subject = names === null ? `the space ${spaceId}` : `jobs named ${names.join(', ')}`;
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
      {state && <WholeSpace paused={state.paused} confirmPause={confirmPause} />}
      {state && state.paused !== true && <Names state={state} confirmPause={confirmPause} />}
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
        {Array.isArray(paused) && `${paused.length === 1 ? '1 job name is' : `${paused.length} job names are`} paused.`}
      </p>
      <p class="buttons">
        {!isPaused && (
          <button type="button" onClick={() => confirmPause('Pause', null)}>
            Pause space…
          </button>
        )}
        {paused !== undefined && (
          <button type="button" onClick={() => confirmPause('Resume', null)}>
            Resume space…
          </button>
        )}
      </p>
    </>
  );
}

/** What is paused, with job names if the key may see them. */
interface PauseState {
  paused?: Paused;
  names?: NameStats[];
  /** Number of job names that are missing in `names`. */
  namesLeftOut?: number;
}

/** Asks the user to confirm a pause or resume. Names of null mean the whole space. */
type ConfirmPause = (verb: 'Pause' | 'Resume', names: string[] | null) => void;

/** Show the job names of a space, each with a button to pause or resume it. */
function Names({ state, confirmPause }: { state: PauseState; confirmPause: ConfirmPause }) {
  const paused = Array.isArray(state.paused) ? state.paused : [];
  const pending = new Map(state.names?.map((one) => [one.name, one.pending]));
  // A paused name may have no jobs, or too few to be listed.
  const names = [...new Set([...paused, ...pending.keys()])];
  const rows = names.map((name) => ({ id: name, pending: pending.get(name), isPaused: paused.includes(name) }));
  const columns: Column<(typeof rows)[number]>[] = [
    { title: 'Job name', isRowHeader: true, cell: ({ id }) => <Text>{id}</Text> },
    {
      title: 'Pending',
      isNumber: true,
      cell: ({ pending: jobs }) => (jobs === undefined ? <span class="none">–</span> : count(jobs)),
    },
    {
      title: 'State',
      cell: ({ isPaused }) => <span class={isPaused ? 'status' : 'none'}>{isPaused ? 'paused' : 'not paused'}</span>,
    },
    {
      title: '',
      class: 'actions',
      cell: ({ id, isPaused }) => {
        const verb = isPaused ? 'Resume' : 'Pause';
        return <RowButton verb={verb} name={id} onClick={() => confirmPause(verb, [id])} />;
      },
    },
  ];
  const leftOut = state.namesLeftOut ?? 0;
  return (
    <>
      <Table label="Job names" columns={columns} rows={rows} />
      {leftOut > 0 && <p>{count(leftOut)} other names with fewer jobs are not listed.</p>}
      <AnotherName confirmPause={confirmPause} />
    </>
  );
}

/** Render a form that pauses a name that isn't listed, for example because it has no jobs yet. */
function AnotherName({ confirmPause }: { confirmPause: ConfirmPause }) {
  const name = useSignal('');
  const submit = (event: Event) => {
    event.preventDefault();
    confirmPause('Pause', [name.value]);
  };
  return (
    <form onSubmit={submit} aria-label="Pause another name">
      <Field label="Another job name">
        <TextInput required maxLength={128} text={name} />
      </Field>
      <p class="buttons">
        <button type="submit">Pause name…</button>
      </p>
    </form>
  );
}
