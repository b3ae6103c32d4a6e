import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { masterOf, secretOf } from '../support/callbacks.js';
import { withService } from '../support/service.js';
import { ADMIN_KEY } from '../support/shared-service.js';
import { until } from '../support/until.js';
import { startApi } from '../waiting/api.js';

const [NEW, OLD] = [masterOf('n'), masterOf('o')];
const unsigned = withService();
const signing = withService({ CALLBACK_SIGNING_SECRET: `${NEW}, ${OLD}` }, { app: 'api' });

it('returns a callback secret of the space for each master secret, newest first, and never a master secret', async () => {
  for (const spaceId of ['shop', 'Shop', 'callback:shop', 'a.b_c-d']) {
    const { body } = await signing.call('GET', `/spaces/${spaceId}/callback-secret`);
    expect(body).toEqual({ secrets: [secretOf(NEW, spaceId), secretOf(OLD, spaceId)] });
  }
});

it('returns no callback secrets when callbacks are not signed', async () => {
  expect((await unsigned.call('GET', '/spaces/shop/callback-secret')).body).toEqual({ secrets: [] });
});

it('uses the admin key and the master secrets that are currently in their files', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'yardmaster-secrets-'));
  const [ADMIN_API_KEY_FILE, CALLBACK_SIGNING_SECRET_FILE] = [join(folder, 'admin'), join(folder, 'master')] as const;
  const write = (admin: string, master: string) =>
    Promise.all([writeFile(ADMIN_API_KEY_FILE, admin), writeFile(CALLBACK_SIGNING_SECRET_FILE, master)]);
  await write(ADMIN_KEY, OLD);
  const env = { ADMIN_API_KEY_FILE, CALLBACK_SIGNING_SECRET_FILE };
  const api = await startApi(unsigned, { env, readSecretsEveryMs: 20 });
  try {
    const read = (key: string) => api.call('GET', '/spaces/shop/callback-secret', { key });
    expect((await read(ADMIN_KEY)).body).toEqual({ secrets: [secretOf(OLD, 'shop')] });
    const other = `other-${ADMIN_KEY}`;
    await write(`${other}\n`, `${NEW},${OLD}\n`);
    await until(async () => (await read(other)).body.secrets?.length === 2);
    expect((await read(ADMIN_KEY)).status).toBe(401);
    expect((await read(other)).body).toEqual({ secrets: [NEW, OLD].map((master) => secretOf(master, 'shop')) });
  } finally {
    await api.stop();
    await rm(folder, { recursive: true });
  }
});
