import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { ADMIN_KEY, startService, type TestService } from '../support/service.js';
import { alike, headOf, sendRaw } from './spellings.js';

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

const PATH = '/api/v1/spaces/nobodys/jobs/poll';
const asked = (lines: string[], target: string) =>
  sendRaw(service.url, { target, lines: [...lines, `x-api-key: ${ADMIN_KEY}`, 'x-request-id: same'] });

it.each([
  ['twice', ['Host: a', 'Host: b'], 400],
  ['twice the same', ['Host: a', 'host: a'], 400],
  ['not at all', [], 400],
  ['once', ['hOsT: a'], 200],
])('a call that names its host %s is answered the same, whoever serves', async (_, lines, status) => {
  const usual = await asked(lines, PATH);
  expect(headOf(usual).status).toBe(status);
  if (status === 400) expect(usual).toContain('{"error":"Host header must be there once","code":"INVALID_REQUEST"}');
  expect(alike(await asked(lines, `${PATH}?x=1`))).toBe(alike(usual));
});
