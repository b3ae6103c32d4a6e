import { useSignal } from '@preact/signals';
import type { NameStats, Paused } from '@yardmaster/protocol';
import { Field, TextInput } from '../../parts/form.js';
import { count } from '../../parts/format.js';
import { type Column, Table, Text } from '../../parts/show.js';

const COLUMNS: Column[] = [
  { title: 'Name of jobs' },
  { title: 'Pending', isNumber: true },
  { title: 'State' },
  { title: '' },
];

/** What is paused, with the names of the jobs as far as the key may see them. */
export interface PauseState {
  paused?: Paused;
  names?: NameStats[];
  /** Names with jobs that are not among `names`. */
  namesLeftOut?: number;
}

/** Ask before a pause or its end. Names are null for the whole space. */
export type ConfirmPause = (verb: 'Pause' | 'Resume', names: string[] | null) => void;

/** The names of jobs of a space, each with a button that pauses or resumes it. */
export function Names({ state, confirmPause }: { state: PauseState; confirmPause: ConfirmPause }) {
  const paused = Array.isArray(state.paused) ? state.paused : [];
  const pending = new Map(state.names?.map((one) => [one.name, one.pending]));
  // A paused name may have no jobs, or too few to be among the names.
  const names = [...new Set([...paused, ...pending.keys()])];
  const leftOut = state.namesLeftOut ?? 0;
  return (
    <>
      {names.length > 0 && (
        <Table label="Names of jobs" columns={COLUMNS}>
          {names.map((name) => (
            <NameRow
              key={name}
              name={name}
              pending={pending.get(name)}
              isPaused={paused.includes(name)}
              confirmPause={confirmPause}
            />
          ))}
        </Table>
      )}
      {leftOut > 0 && <p>{count(leftOut)} other names with fewer jobs are not listed.</p>}
      <AnotherName confirmPause={confirmPause} />
    </>
  );
}

interface NameRowProps {
  name: string;
  /** Undefined when it is not known. */
  pending: number | undefined;
  isPaused: boolean;
  confirmPause: ConfirmPause;
}

function NameRow({ name, pending, isPaused, confirmPause }: NameRowProps) {
  const verb = isPaused ? 'Resume' : 'Pause';
  return (
    <tr>
      <th scope="row">
        <Text>{name}</Text>
      </th>
      <td class="number">{pending === undefined ? <span class="none">–</span> : count(pending)}</td>
      <td>{isPaused ? <span class="status">paused</span> : <span class="none">not paused</span>}</td>
      <td class="actions">
        <button type="button" onClick={() => confirmPause(verb, [name])}>
          {verb} …<bdi class="hidden"> {name}</bdi>
        </button>
      </td>
    </tr>
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
