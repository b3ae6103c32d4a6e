import { afterEach, expect, it } from '@jest/globals';
import { masterOf, secretOf } from '../support/callbacks.js';
import { withService } from '../support/service.js';
import { ADMIN_KEY } from '../support/shared-service.js';
import { serve, stopServing } from './fake-service.js';
import { yardmasterHere } from './in-process.js';
import { endAll, yardmaster } from './yardmaster.js';

const [NEW, OLD] = [masterOf('n'), masterOf('o')];
const unsigned = withService();
const signing = withService({ CALLBACK_SIGNING_SECRET: `${NEW},${OLD}` }, { app: 'api' });
afterEach(endAll);
afterEach(stopServing);

const env = ({ url }: { url: string }, key = ADMIN_KEY) => ({ YARDMASTER_URL: url, YARDMASTER_API_KEY: key });
const secretsHere = (from: { url: string }, key?: string, spaceId = 'shop') =>
  yardmasterHere(['callback-secret', spaceId], env(from, key)).end();
const refused = (sentence: string) => [1, [], `yardmaster: ${sentence}\n`];

it('prints the callback secrets of a space, one per line, newest first', async () => {
  const run = yardmaster(['callback-secret', 'shop'], env(signing));
  expect([await run.exit(), run.out(), run.err()]).toEqual([
    0,
    `${secretOf(NEW, 'shop')}\n${secretOf(OLD, 'shop')}\n`,
    '',
  ]);
  expect(await secretsHere(signing, ADMIN_KEY, 'a:b')).toEqual([0, [NEW, OLD].map((of) => secretOf(of, 'a:b')), '']);
});

it('exits with 1 when the service does not sign callbacks, so that no script uses an empty secret', async () => {
  const sentence = 'callbacks are not signed: the API has no CALLBACK_SIGNING_SECRET';
  expect(await secretsHere(unsigned)).toEqual(refused(sentence));
});

it('exits with 1 and the reason when the service refuses to show callback secrets', async () => {
  const { key } = await signing.key(['jobs:read', 'jobs:create']);
  expect(await secretsHere(signing, key)).toEqual(refused('Missing required scope: keys:manage'));
  expect(await secretsHere(signing, 'ym_wrong')).toEqual(refused('A valid API key is required'));
  const rule = 'spaceId must be 1 to 128 characters of A-Z a-z 0-9 . _ : -';
  expect(await secretsHere(signing, ADMIN_KEY, 'a/b')).toEqual(refused(rule));
});

it.each([
  ['the page of a proxy', '<html>Welcome</html>', 'Status 200 without JSON of the service; check the URL'],
  ['other JSON', '{"secrets":7}', 'the response does not contain callback secrets'],
])('exits with 1 when the response is %s instead of callback secrets', async (_, body, sentence) => {
  const fake = await serve((_request, response) => response.writeHead(200).end(body));
  expect(await secretsHere(fake)).toEqual(refused(sentence));
});

it('prints callback secrets without terminal sequences of a malicious server', async () => {
  const fake = await serve((_request, response) => response.end('{"secrets":["whsec_a\\u001b[2J\\nb"]}'));
  expect(await secretsHere(fake)).toEqual([0, ['whsec_a b'], '']);
});

it('exits with 6 after a single request when callback secrets are unavailable', async () => {
  const fake = await serve((_request, response) => response.writeHead(503).end());
  expect((await secretsHere(fake))[0]).toBe(6);
  expect(fake.requests).toBe(1);
});
