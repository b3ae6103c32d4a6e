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

/** Say what follows from a pause or its end; without names it is about the whole space. */
export function pauseEffect(verb: 'Pause' | 'Resume', names: string[] | null): string {
  if (verb === 'Pause') return 'Workers get none of these jobs. They can be created, and those that run go on.';
  return names === null
    ? 'Workers get jobs again. This also ends the pauses of single names.'
    : 'Workers get these jobs again.';
}

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

/** What is paused, with the names of the jobs as far as the key may see them. */
interface PauseState {
  paused?: Paused;
  names?: NameStats[];
  /** Names with jobs that are not among `names`. */
  namesLeftOut?: number;
}

/** Ask before a pause or its end. Names are null for the whole space. */
type ConfirmPause = (verb: 'Pause' | 'Resume', names: string[] | null) => void;

/** The names of jobs of a space, each with a button that pauses or resumes it. */
function Names({ state, confirmPause }: { state: PauseState; confirmPause: ConfirmPause }) {
  const paused = Array.isArray(state.paused) ? state.paused : [];
  const pending = new Map(state.names?.map((one) => [one.name, one.pending]));
  // A paused name may have no jobs, or too few to be among the names.
  const names = [...new Set([...paused, ...pending.keys()])];
  const rows = names.map((name) => ({ id: name, pending: pending.get(name), isPaused: paused.includes(name) }));
  const columns: Column<(typeof rows)[number]>[] = [
    { title: 'Name of jobs', isRowHeader: true, cell: ({ id }) => <Text>{id}</Text> },
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
      <Table label="Names of jobs" columns={columns} rows={rows} />
      {leftOut > 0 && <p>{count(leftOut)} other names with fewer jobs are not listed.</p>}
      <AnotherName confirmPause={confirmPause} />
    </>
  );
}

/** A name can be paused before it has jobs. */
function AnotherName({ confirmPause }: { confirmPause: ConfirmPause }) {
  const name = useSignal('');
  const submit = (event: Event) => {
    event.preventDefault();
    confirmPause('Pause', [name.value]);
  };
  return (
    <form onSubmit={submit} aria-label="Pause another name">
      <Field label="Another name of jobs">
        <TextInput required maxLength={128} text={name} />
      </Field>
      <p class="buttons">
        <button type="submit">Pause this name …</button>
      </p>
    </form>
  );
}
