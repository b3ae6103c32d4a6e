import { useSignal } from '@preact/signals';
import type { SpaceStats } from '@yardmaster/protocol';
import { isJobId } from '@yardmaster/protocol/job-id';
import { YardmasterError } from '@yardmaster/sdk/internal/errors';
import { useEffect } from 'preact/hooks';
import { call, segment } from './api/client.js';
import { loadSpaces } from './live/spaces.js';
import { useLoaded } from './live/use-loaded.js';
import { closeDialog } from './parts/dialog.js';
import { Field, TextInput, useSubmit } from './parts/form.js';
import { ErrorNotice } from './parts/notice.js';
import { Text } from './parts/show.js';
import { type Changes, goTo, linkTo, route } from './route.js';

interface Place {
  title: string;
  path: string[];
  query?: Changes;
}

const LOADING = 'Spaces and job names are still loading';
const NOT_FOUND = 'No match found';

/** Maximum number of spaces whose job names are loaded, to bound the number of calls. */
const SPACES = 20;

/** Find a job by its ID, or spaces, job names and tags by their text. */
export function Find() {
  const text = useSignal('');
  const { value: names, error: namesError } = useLoaded('names', loadNames);
  const places = placesOf(text.value.trim(), names.value ?? []);
  const { submit, error } = useSubmit(async () => {
    const wanted = text.value.trim();
    if (wanted === '') return;
    const place = (await isJobWith(wanted)) ? jobPlace(wanted) : placesOf(wanted, names.value ?? [])[0];
    if (place === undefined) throw namesError.value ?? new Error(names.value === null ? LOADING : NOT_FOUND);
    closeDialog();
    goTo(place.path, place.query);
  });
  useEffect(() => {
    error.value = '';
  }, [text.value, names.value]);

  return (
    <form onSubmit={submit}>
      <h2 id="dialog-title">Find</h2>
      <Field label="Job ID, tag, or part of a space or job name">
        <TextInput type="text" spellcheck={false} autocomplete="off" autofocus text={text} />
      </Field>
      <ErrorNotice>{error.value}</ErrorNotice>
      <ul class="places">
        {places.slice(0, 12).map(({ title, path, query }) => (
          <li key={title}>
            <a href={linkTo(path, query)} onClick={closeDialog}>
              <Text>{title}</Text>
            </a>
          </li>
        ))}
      </ul>
      <p class="buttons">
        <button type="button" onClick={closeDialog}>
          Close
        </button>
        <button type="submit" class="primary">
          Open
        </button>
      </p>
    </form>
  );
}

/** Whether a job with this ID exists. */
async function isJobWith(id: string): Promise<boolean> {
  try {
    await call('GET', `jobs/${segment(id)}`, { query: { events: 0 } });
    return true;
  } catch (error) {
    if (error instanceof YardmasterError && [400, 403, 404].includes(error.status ?? 0)) return false;
    throw error;
  }
}

interface NamesOfSpace {
  spaceId: string;
  names: string[];
}

async function loadNames(signal: AbortSignal): Promise<NamesOfSpace[]> {
  const spaces = await loadSpaces(signal);
  return Promise.all(
    spaces.map(async ({ spaceId }, i) => {
      if (i >= SPACES) return { spaceId, names: [] };
      const { names } = await call<SpaceStats>('GET', `spaces/${segment(spaceId)}/stats`, { signal });
      return { spaceId, names: names.map(({ name }) => name) };
    }),
  );
}

function placesOf(text: string, spaces: NamesOfSpace[]): Place[] {
  if (text === '') return [];
  const job = isJobId(text) ? [jobPlace(text)] : [];
  const isFound = (one: string) => one.toLowerCase().includes(text.toLowerCase());
  const found = spaces
    .filter(({ spaceId }) => isFound(spaceId))
    .map(({ spaceId }) => placeOf(`Space ${spaceId}`, spaceId));
  const named = spaces.flatMap(({ spaceId, names }) =>
    names.filter(isFound).map((name) => placeOf(`Jobs named ${name} in ${spaceId}`, spaceId, { name })),
  );
  const [first, here] = route.value.path;
  const inOrder = first === 'spaces' && here !== undefined ? [here] : spaces.map(({ spaceId }) => spaceId);
  const further = inOrder.flatMap((spaceId) => [
    placeOf(`Jobs with the tag ${text} in ${spaceId}`, spaceId, { tag: text }),
    placeOf(`Jobs in ${spaceId} whose payload, result or error contains ${text}`, spaceId, { q: text }),
  ]);
  return [...job, ...found, ...named, ...further];
}

const jobPlace = (id: string): Place => ({ title: `Job ${id}`, path: ['jobs', id] });

const placeOf = (title: string, spaceId: string, query: Changes = {}): Place => ({
  title,
  path: ['spaces', spaceId],
  query,
});
