import { expect, it } from '@jest/globals';
import { masterOf, secretOf } from '../support/callbacks.js';
import { withService } from '../support/service.js';

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
