import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { jobIn } from '../support/jobs.js';
import { startService, type TestService } from '../support/service.js';
import { append, infos, isFollowed, logs, numbered, printed } from './logs.js';
import { endAll } from './yardmaster.js';

let service: TestService;
/** Has two entries, and has completed. */
let id: string;
beforeAll(async () => {
  service = await startService();
  id = await jobIn(service, 'completed', 'own');
  await append(service, id, numbered(2));
});
afterEach(endAll);
afterAll(() => service.stop());

/** Exit code, output and errors with a key; as admin without one. */
async function read(args: string[], key?: string) {
  const run = logs(service, args, key === undefined ? {} : { YARDMASTER_API_KEY: key });
  return [await run.exit(), run.out(), run.err()];
}

describe.each([[[]], [['--follow']], [['--tail', '0']]])('logs that may not be read, with %j, exit with 1', (flags) => {
  it('an unknown job', async () => {
    expect(await read(['nope', ...flags])).toEqual([1, '', 'yardmaster: Job not found\n']);
  });

  it('a key that is none, which is not printed', async () => {
    expect(await read([id, ...flags], 'ym_wrong')).toEqual([1, '', 'yardmaster: A valid API key is required\n']);
  });

  it('a key that may do anything but that', async () => {
    const { key } = await service.key(['jobs:read:progress', 'jobs:event', 'jobs:create']);
    expect(await read([id, ...flags], key)).toEqual([1, '', 'yardmaster: The API key lacks the scope jobs:read\n']);
  });

  it('a key of another space', async () => {
    const { key } = await service.key(['jobs:read'], { spaceId: 'elsewhere' });
    expect(await read([id, ...flags], key)).toEqual([1, '', 'yardmaster: The API key is bound to another space\n']);
  });
});

it('reads with a key of the space of the job that holds jobs:read, and nothing else', async () => {
  const { key } = await service.key(['jobs:read'], { spaceId: 'own' });
  const run = logs(service, [id, '--follow'], { YARDMASTER_API_KEY: key });
  expect([await run.exit(), printed(run), run.err()]).toEqual([0, infos(numbered(2)), '']);
});

it('takes the key from --token before that of the environment', async () => {
  const { key } = await service.key(['jobs:read']);
  const run = logs(service, [id, '--token', key], { YARDMASTER_API_KEY: 'ym_wrong' });
  expect([await run.exit(), printed(run), run.err()]).toEqual([0, infos(numbered(2)), '']);
});

it('ends with 1 when the key is revoked meanwhile', async () => {
  const job = await jobIn(service, 'running', 'revoked');
  const { id: keyId, key } = await service.key(['jobs:read']);
  await append(service, job, numbered(2));
  const run = logs(service, [job, '--follow'], { YARDMASTER_API_KEY: key });
  await run.shows('entry 2\n');
  await isFollowed(service, job);
  await service.call('DELETE', `/keys/${keyId}`);
  expect(await run.exit()).toBe(1);
  // Of the stream that is closed, or of the page that it asks for as the stream opens.
  expect(run.err()).toMatch(/^yardmaster: (API key is no longer valid|A valid API key is required)\n$/);
  expect(printed(run)).toEqual(infos(numbered(2)));
});
