import { errorGroupsOf } from '../../live/errors.js';
import { count } from '../../parts/format.js';
import { Text } from '../../parts/show.js';
import { linkWith } from '../../route.js';
import { inJson } from '../bulk.js';
import type { JobList } from './list.js';

const SHOWN = 6;

/** The errors of the dead jobs on the page, the most frequent first; each is a link to the jobs with it. */
export function ErrorGroups({ list }: { list: JobList }) {
  const groups = errorGroupsOf(list.rows.value ?? []);
  if (groups.length < 2) return null;
  return (
    <nav class="groups" aria-label="Dead jobs by error">
      Dead by error:
      {groups.slice(0, SHOWN).map(({ error, text, ids }) => (
        <a key={text} href={linkWith({ status: 'dead', q: inJson(error), cursor: null })}>
          <Text max={60}>{text}</Text> ×{count(ids.length)}
        </a>
      ))}
      {groups.length > SHOWN && <span>and {count(groups.length - SHOWN)} others</span>}
    </nav>
  );
}
