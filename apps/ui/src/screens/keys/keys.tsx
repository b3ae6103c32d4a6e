import { useSignal } from '@preact/signals';
import type { ApiKey } from '@yardmaster/protocol';
import { call, callPage, segment } from '../../api/client.js';
import { can, ownKey, signOut } from '../../api/session.js';
import { now } from '../../live/clock.js';
import { useLoaded } from '../../live/use-loaded.js';
import { ActionForm, showDialog } from '../../parts/dialog.js';
import { ErrorNotice } from '../../parts/notice.js';
import { Ago, SpaceLink, Text, Time } from '../../parts/show.js';
import { type Column, Pages, RowButton, Table } from '../../parts/table.js';
import { route } from '../../route.js';
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
  { title: 'ID', hint: 'Middle part of ym_<id>_<secret>', cell: ({ id }) => <code>{id}</code> },
  { title: 'Scopes', class: 'wraps', cell: ({ scopes }) => scopes.join(', ') },
  {
    title: 'Space',
    hint: 'The only space in which the key works',
    cell: ({ spaceId }) => (spaceId === null ? <span class="none">every space</span> : <SpaceLink spaceId={spaceId} />),
  },
  {
    title: 'Limits',
    hint: 'Rate limit in each API process',
    cell: ({ limits }) => (limits ? `${limits.perSecond}/s, burst ${limits.burst}` : <span class="none">none</span>),
  },
  {
    title: 'Last used',
    hint: 'Can lag by up to a minute',
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
    title: 'Created by',
    hint: 'ID of the key with which it was created',
    cell: ({ createdBy }) =>
      createdBy === undefined ? <span class="none">ADMIN_API_KEY</span> : <code>{createdBy}</code>,
  },
  {
    title: '',
    class: 'actions',
    cell: (key) => (
      <>
        <RowButton verb="Rotate" name={key.name} onClick={() => showDialog(<RotateKey apiKey={key} />)} />
        <RowButton verb="Revoke" name={key.name} onClick={() => showDialog(<RevokeKey apiKey={key} />)} />
      </>
    ),
  },
];

/** Show the API keys, newest first. */
export function Keys() {
  const cursor = route.value.query.get('cursor');
  const load = (signal: AbortSignal) => callPage<ApiKey[]>('GET', 'keys', { query: { cursor }, signal });
  const { value, error } = useLoaded(`keys ${cursor}`, load);
  const keys = value.value?.body;
  return (
    <>
      <h1>API keys</h1>
      {can('keys:manage') && (
        <p class="buttons">
          <button type="button" class="primary" onClick={() => showDialog(<NewKey />)}>
            New key…
          </button>
        </p>
      )}
      <ErrorNotice>{error.value?.message}</ErrorNotice>
      {keys?.length === 0 && <p>No keys yet. ADMIN_API_KEY is not listed.</p>}
      <Table label="API keys" columns={COLUMNS} rows={keys} />
      <Pages of="the list" next={value.value?.nextCursor ?? null} />
    </>
  );
}

/** Render the dialog that revokes a key, and all keys created with it. */
function RevokeKey({ apiKey: { id, name, scopes, spaceId, lastUsedAt } }: { apiKey: ApiKey }) {
  const keepChildren = useSignal(false);
  const isOwn = id === ownKey.value?.id;
  const run = async () => {
    const query = { keepChildren: keepChildren.value ? 'true' : null };
    await call('DELETE', `keys/${segment(id)}`, { query });
    if (isOwn) signOut('You revoked the key that you were signed in with.');
    return `Revoked ${name}`;
  };
  return (
    <ActionForm
      title={
        <>
          Revoke the key <Text>{name}</Text>?
        </>
      }
      verb="Revoke"
      isDestructive
      run={run}
    >
      {isOwn && <p class="notice bad">You are signed in with this key, and will be signed out.</p>}
      <p>
        Programs that use the key <code>{id}</code> lose access within seconds, and their streams are closed. This
        cannot be undone.
      </p>
      <p>
        It works in {spaceId === null ? 'every space' : <Text>{spaceId}</Text>} with {scopes.join(', ')}. Last used:{' '}
        {lastUsedAt === undefined ? 'never' : <Ago at={lastUsedAt} />}.
      </p>
      {scopes.includes('keys:manage') && (
        <label>
          <input
            type="checkbox"
            checked={keepChildren.value}
            onChange={(event) => (keepChildren.value = event.currentTarget.checked)}
          />{' '}
          Keep the keys created with it{' '}
          <small>otherwise, they and all keys created with them are revoked as well</small>
        </label>
      )}
    </ActionForm>
  );
}
