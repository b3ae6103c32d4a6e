import type { AuditEntry, AuditPage } from '@yardmaster/protocol';
import { call } from '../api/client.js';
import { useLoaded } from '../live/use-loaded.js';
import { ErrorNotice } from '../parts/notice.js';
import { JobLink, SpaceLink, Time } from '../parts/show.js';
import { type Column, Pages, Table } from '../parts/table.js';
import { route } from '../route.js';

const NONE = <span class="none">–</span>;

const COLUMNS: Column<AuditEntry>[] = [
  { title: 'Time', cell: ({ at }) => <Time at={at} /> },
  {
    title: 'Key',
    hint: 'The key that was used',
    cell: ({ keyId, keyName }) => (keyId === '' ? NONE : <bdi title={keyId}>{keyName}</bdi>),
  },
  { title: 'Action', cell: ({ action }) => action },
  { title: 'Space', cell: ({ spaceId }) => (spaceId === null ? NONE : <SpaceLink spaceId={spaceId} />) },
  { title: 'Job', cell: ({ jobId }) => (jobId === null ? NONE : <JobLink id={jobId} />) },
  { title: 'Address', hint: 'Address of the client; for IPv6, its /64 network', cell: ({ address }) => address },
  {
    title: 'Details',
    class: 'wraps',
    cell: ({ details }) => (Object.keys(details).length === 0 ? NONE : <bdi>{detailsText(details)}</bdi>),
  },
];

/** Interval between reads of the newest entries. */
const EVERY_MS = 5000;

/** Show who did what, newest first. */
export function Audit() {
  const cursor = route.value.query.get('cursor');
  const load = (signal: AbortSignal) => call<AuditPage>('GET', 'audit', { query: { cursor }, signal });
  const { value, error } = useLoaded(`audit ${cursor}`, load, cursor === null ? EVERY_MS : undefined);
  const entries = value.value?.entries;
  const next = value.value?.nextCursor ?? null;
  return (
    <>
      <h1>Audit</h1>
      <ErrorNotice>{error.value?.message}</ErrorNotice>
      {entries?.length === 0 && (
        <p>{next === null ? 'No entries.' : 'No entries on this page, but older pages have some.'}</p>
      )}
      <Table label="Audit" columns={COLUMNS} rows={entries} />
      <Pages of="the audit log" next={next} />
    </>
  );
}

/** Format details as `name: value` pairs. */
const detailsText = (details: AuditEntry['details']) =>
  Object.entries(details)
    .map(([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(', ');
