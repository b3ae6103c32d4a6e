import type { ApiKey } from '@yardmaster/protocol';
import { call, segment } from '../../api/client.js';
import { can, ownKey, signOut } from '../../api/session.js';
import { now } from '../../live/clock.js';
import { useLoaded } from '../../live/use-loaded.js';
import { confirm, showDialog } from '../../parts/dialog.js';
import { ErrorNotice } from '../../parts/notice.js';
import { Ago, SpaceLink, Text, Time } from '../../parts/show.js';
import { type Column, RowButton, Table } from '../../parts/table.js';
import { NewKey } from './new.js';
import { RotateKey } from './secret.js';

const COLUMNS: Column<ApiKey>[] = [
  {
    title: 'Name',
    isRowHeader: true,
    cell: ({ id, name }) => (
      <>
        <Text>{name}</Text> {id === ownKey.value?.id && <span class="status">your key</span>}
      </>
    ),
  },
  { title: 'Id', hint: 'Middle part of ym_<id>_<secret>', cell: ({ id }) => <code>{id}</code> },
  { title: 'Scopes', class: 'wraps', cell: ({ scopes }) => scopes.join(', ') },
  {
    title: 'Space',
    hint: 'The one space the key works in',
    cell: ({ spaceId }) => (spaceId === null ? <span class="none">every space</span> : <SpaceLink spaceId={spaceId} />),
  },
  {
    title: 'Limits',
    hint: 'How many calls it may make, in each process of the API',
    cell: ({ limits }) => (limits ? `${limits.perSecond}/s, burst ${limits.burst}` : <span class="none">none</span>),
  },
  {
    title: 'Last used',
    hint: 'At most a minute behind',
    cell: ({ lastUsedAt }) => (lastUsedAt === undefined ? <span class="none">never</span> : <Ago at={lastUsedAt} />),
  },
  {
    title: 'Expires',
    cell: ({ expiresAt: at }) =>
      at === null ? (
        <span class="none">never</span>
      ) : (
        <>
          <Time at={at} /> {Date.parse(at) <= now.value && <span class="status">expired</span>}
        </>
      ),
  },
  { title: 'Created', cell: ({ createdAt }) => <Time at={createdAt} /> },
  {
    title: '',
    class: 'actions',
    cell: (key) => (
      <>
        <RowButton verb="Rotate" name={key.name} onClick={() => showDialog(<RotateKey apiKey={key} />)} />
        <RowButton verb="Revoke" name={key.name} onClick={() => confirmRevoke(key)} />
      </>
    ),
  },
];

/** The API keys that the person may see, newest first. */
export function Keys() {
  const { value, error } = useLoaded('keys', (signal) => call<ApiKey[]>('GET', 'keys', { signal }));
  const keys = value.value;
  return (
    <>
      <h1>API keys</h1>
      {can('keys:manage') && (
        <p class="buttons">
          <button type="button" class="primary" onClick={() => showDialog(<NewKey />)}>
            New …
          </button>
        </p>
      )}
      <ErrorNotice>{error.value?.message}</ErrorNotice>
      {keys?.length === 0 && <p>No key yet. The key of ADMIN_API_KEY is not listed.</p>}
      <Table label="API keys" columns={COLUMNS} rows={keys} />
    </>
  );
}

function confirmRevoke({ id, name, scopes, spaceId, lastUsedAt }: ApiKey): void {
  const isOwn = id === ownKey.value?.id;
  confirm({
    title: (
      <>
        Revoke the key <Text>{name}</Text>?
      </>
    ),
    verb: 'Revoke',
    isDestructive: true,
    children: (
      <>
        {isOwn && <p class="notice bad">This is the key with which you are signed in. You will be signed out.</p>}
        <p>
          Every program that uses the key <code>{id}</code> is refused within seconds, and its streams are closed. This
          cannot be undone.
        </p>
        <p>
          It works in {spaceId === null ? 'every space' : <Text>{spaceId}</Text>} with {scopes.join(', ')}. Last use:{' '}
          {lastUsedAt === undefined ? 'none recorded' : <Ago at={lastUsedAt} />}.
        </p>
      </>
    ),
    run: async () => {
      await call('DELETE', `keys/${segment(id)}`);
      if (isOwn) signOut('You revoked the key with which you were signed in.');
      return `Revoked ${name}`;
    },
  });
}
