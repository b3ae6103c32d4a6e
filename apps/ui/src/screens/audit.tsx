import type { AuditEntry, AuditPage } from '@yardmaster/protocol';
import { call } from '../api/client.js';
import { useLoaded } from '../live/use-loaded.js';
import { ErrorNotice } from '../parts/notice.js';
import { type Column, JobLink, SpaceLink, Table, Time } from '../parts/show.js';
import { linkWith, route } from '../route.js';

const COLUMNS: Column[] = [
  { title: 'At' },
  { title: 'Key', hint: 'The key that was used' },
  { title: 'Action' },
  { title: 'Space' },
  { title: 'Job' },
  { title: 'Address', hint: 'Of the client; of IPv6, its /64 network' },
  { title: 'Details' },
];

/** How often the newest entries are read. */
const EVERY_MS = 5000;

/** Who did what, newest first. */
export function Audit() {
  const { query } = route.value;
  const cursor = query.get('cursor');
  const page = Math.max(1, Number.parseInt(query.get('page') ?? '', 10) || 1);
  const load = (signal: AbortSignal) => call<AuditPage>('GET', 'audit', { query: { cursor }, signal });
  const { value, error } = useLoaded(`audit ${cursor}`, load, cursor === null ? EVERY_MS : undefined);
  const entries = value.value?.entries;
  const next = value.value?.nextCursor ?? null;
  return (
    <>
      <h1>Audit</h1>
      <ErrorNotice>{error.value?.message}</ErrorNotice>
      {entries?.length === 0 && <p>{next === null ? 'No entry.' : 'No entry on this page; older pages have some.'}</p>}
      <Table label="Audit" columns={COLUMNS}>
        {entries?.map((entry) => (
          <EntryRow key={entry.id} entry={entry} />
        ))}
      </Table>
      <nav class="pages" aria-label="Pages of the audit">
        {cursor !== null && <a href={linkWith({ cursor: null, page: null })}>Newest</a>}
        {cursor !== null && <span>page {page}</span>}
        {next !== null && <a href={linkWith({ cursor: next, page: String(page + 1) })}>Older</a>}
      </nav>
    </>
  );
}

/** Say details as `name: value, …`. */
const detailsText = (details: AuditEntry['details']) =>
  Object.entries(details)
    .map(([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(', ');

function EntryRow({ entry }: { entry: AuditEntry }) {
  const { at, keyId, keyName, action, spaceId, jobId, address, details } = entry;
  const none = <span class="none">–</span>;
  return (
    <tr>
      <td>
        <Time at={at} />
      </td>
      <td title={keyId}>
        <bdi>{keyName}</bdi>
      </td>
      <td>{action}</td>
      <td>{spaceId === null ? none : <SpaceLink spaceId={spaceId} />}</td>
      <td>{jobId === null ? none : <JobLink id={jobId} />}</td>
      <td>{address}</td>
      <td class="wraps">{Object.keys(details).length === 0 ? none : <bdi>{detailsText(details)}</bdi>}</td>
    </tr>
  );
}
