import { afterEach, expect, it } from '@jest/globals';
import { createJob, jobIn } from '../support/jobs.js';
import { withService } from '../support/service.js';
import { asAdmin } from './logs.js';
import { read, startWorker, whenIn } from './worker.js';
import { endAll, yardmaster } from './yardmaster.js';

const service = withService();
afterEach(endAll);

// If the API refuses a value, no command turns it into something that the API accepts.

const nested = (levels: number) => `{"v":${'['.repeat(levels)}${']'.repeat(levels)}}`;

/** Objects as bytes: the API refuses each as a payload, a result and a checkpoint. */
const CORPUS: [what: string, bytes: Buffer][] = [
  ['a number beyond a double', Buffer.from('{"v":1e400}')],
  ['a negative number beyond a double', Buffer.from('{"v":[-1e400]}')],
  ['70 levels', Buffer.from(nested(70))],
  ['a byte that is not UTF-8', Buffer.from('{"v":"caf\xe9"}', 'latin1')],
  ['a surrogate in UTF-8', Buffer.from([...Buffer.from('{"v":"'), 0xed, 0xa0, 0xbd, ...Buffer.from('"}')])],
  ['half a character at the end', Buffer.from([...Buffer.from('{"v":"x"}'), 0xc3])],
];

const inBody = (name: string, value: Buffer) =>
  Buffer.concat([Buffer.from(`{"name":"n","${name}":`), value, Buffer.from('}')]);
const JSON_TYPE = { 'content-type': 'application/json' };

it.each(CORPUS)('%s is refused by the API, and by every command that sends it', async (what, value) => {
  const spaceId = what.replaceAll(' ', '-');
  const job = await jobIn(service, 'running', spaceId);
  const path = `/spaces/${spaceId}/jobs`;
  for (const [target, raw] of [
    [path, inBody('payload', value)],
    [`/jobs/${job}/complete`, inBody('result', value)],
    [`/jobs/${job}/checkpoint`, value],
  ] as const)
    expect((await service.call('POST', target, { raw, headers: JSON_TYPE })).status).toBe(400);

  const create = (payload: string) => yardmaster(['create', 'x', payload, '--space', spaceId], asAdmin(service));
  const fromInput = create('-');
  fromInput.child.stdin?.end(value);
  expect([1, 2]).toContain(await fromInput.exit());
  if (value.equals(Buffer.from(value.toString()))) expect([1, 2]).toContain(await create(value.toString()).exit());

  const escaped = [...value].map((byte) => `\\${byte.toString(8).padStart(3, '0')}`).join('');
  const { id } = await createJob(service, spaceId, { maxRetries: 0 });
  startWorker(service, {
    spaceId,
    script: `printf 'checkpoint ' >&3; printf '${escaped}\\n' >&3; printf '${escaped}'`,
  });
  const ended = await whenIn(service, 'dead', id);
  expect(ended.events.map(({ type }) => type)).not.toContain('checkpoint');
  expect((await read(service, job)).status).toBe('running');
  expect((await service.call('GET', `/spaces/${spaceId}/stats`)).body.jobs.total).toBe(2);
});
