import type { NameStats, Status } from '@yardmaster/protocol';
import { STATUSES } from '@yardmaster/protocol/statuses';
import { SearchField } from '../../parts/form.js';
import { count } from '../../parts/format.js';
import { Text } from '../../parts/show.js';
import { changeQuery, linkWith } from '../../route.js';
import type { JobsFilter } from './filter.js';

const CREATED = [
  { since: 1, before: null, title: 'last hour' },
  { since: 24, before: null, title: 'last 24 hours' },
  { since: 168, before: null, title: 'last 7 days' },
  { since: null, before: 1, title: 'more than 1 hour ago' },
  { since: null, before: 24, title: 'more than 24 hours ago' },
  { since: null, before: 168, title: 'more than 7 days ago' },
];

interface FilterBarProps {
  filter: JobsFilter;
  counts: { [status in Status]?: number | undefined } | null;
  names: NameStats[];
}

/** Render the filter of the list. Each control changes the URL. */
export function FilterBar({ filter, counts, names }: FilterBarProps) {
  return (
    <search class="filters">
      <nav aria-label="Status" class="statuses">
        <a
          href={linkWith({ status: null, cursor: null })}
          aria-current={filter.statuses.length === 0 ? 'true' : undefined}
        >
          all
        </a>
        {STATUSES.map((status) => (
          <a
            key={status}
            class={`status ${status}`}
            href={linkWith({ status, cursor: null })}
            aria-current={filter.statuses.includes(status) ? 'true' : undefined}
          >
            {counts === null ? status : `${status} ${count(counts[status] ?? 0)}`}
          </a>
        ))}
      </nav>
      <NameSelect filter={filter} names={names} />
      <CreatedSelect filter={filter} />
      <SearchField
        label="find"
        value={filter.q}
        placeholder="payload, result or error"
        onSearch={(q) => changeQuery({ q, cursor: null }, { isReplaced: true })}
      />
      {filter.tags.map((tag) => (
        <a
          key={tag}
          class="tag"
          href={linkWith({ tag: filter.tags.filter((one) => one !== tag), cursor: null })}
          title="Remove this tag"
        >
          tag <Text>{tag}</Text> <span aria-hidden="true">×</span>
        </a>
      ))}
    </search>
  );
}

function CreatedSelect({ filter: { sinceHours, beforeHours } }: { filter: JobsFilter }) {
  const change = (index: number) => {
    const { since, before } = CREATED[index] ?? {};
    changeQuery({ since: String(since ?? ''), before: String(before ?? ''), cursor: null });
  };
  const chosen = CREATED.findIndex(({ since, before }) => since === sinceHours && before === beforeHours);
  const isOther = chosen === -1 && (sinceHours !== null || beforeHours !== null);
  return (
    <label>
      created{' '}
      <select value={isOther ? CREATED.length : chosen} onChange={(event) => change(Number(event.currentTarget.value))}>
        <option value={-1}>any time</option>
        {CREATED.map(({ title }, index) => (
          <option key={title} value={index}>
            {title}
          </option>
        ))}
        {isOther && <option value={CREATED.length}>{hoursText(sinceHours, beforeHours)}</option>}
      </select>
    </label>
  );
}

/** Describe a creation time from the URL that is not among the options. */
const hoursText = (since: number | null, before: number | null) =>
  [since !== null && `last ${since} h`, before !== null && `more than ${before} h ago`].filter(Boolean).join(', ');

/** Option value for several names. No name contains a line break. */
const SEVERAL = '\n';

function NameSelect({ filter, names }: { filter: JobsFilter; names: NameStats[] }) {
  const known = [...new Set([...filter.names, ...names.map(({ name }) => name)])];
  return (
    <label>
      name{' '}
      <select
        value={filter.names.length > 1 ? SEVERAL : (filter.names[0] ?? '')}
        onChange={(event) => changeQuery({ name: event.currentTarget.value, cursor: null })}
      >
        <option value="">any</option>
        {filter.names.length > 1 && <option value={SEVERAL}>{filter.names.join(' or ').slice(0, 80)}</option>}
        {known.map((name) => (
          <option key={name} value={name}>
            {name.slice(0, 80)}
          </option>
        ))}
      </select>
    </label>
  );
}
