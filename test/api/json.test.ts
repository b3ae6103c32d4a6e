import { expect, it } from '@jest/globals';
import { createJob, jobIn } from '../support/jobs.js';
import { withService } from '../support/service.js';

const service = withService();

const objects = (levels: number) => `${'{"a":'.repeat(levels - 1)}{}${'}'.repeat(levels - 1)}`;
const arrays = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);

/** JSON as a caller writes it. It is text, because JavaScript values cannot express all of it. */
const VALUES: [what: string, text: string][] = [
  ['an empty object', '{}'],
  ['an empty array', '[]'],
  ['nested empties', '{"a":[],"b":{},"c":[[],{},[{}],[[]]],"d":{"e":{},"f":[]}}'],
  ['null', 'null'],
  ['null inside', '{"a":null,"b":[null,{"c":null}]}'],
  ['booleans', '[true,false]'],
  ['zero', '0'],
  ['the empty string', '""'],
  ['a string that is JSON', '"{\\"a\\":[1]}"'],
  ['keys that are not sorted', '{"z":1,"a":2,"M":3,"b":{"y":1,"x":2},"":4}'],
  ['keys that are numbers', '{"b":1,"10":2,"9":3,"a":4,"01":5,"-1":6}'],
  ['a key that is given twice', '{"a":1,"b":2,"a":3}'],
  ['names of every object', '{"__proto__":{"a":1},"constructor":1,"toString":2,"hasOwnProperty":null,"valueOf":[]}'],
  ['__proto__ deep inside', '{"a":[{"__proto__":null},{"__proto__":{"__proto__":[]}}]}'],
  ['names a prototype could take', '{"length":1,"toJSON":"no","then":1,"error":2,"status":3}'],
  ['words of Unicode', '{"größe":"naïve","日本":"語","Привет":"мир"}'],
  ['astral characters', '{"🚂":"👩‍👩‍👧 𝒳","\\ud83d\\ude82":1}'],
  ['lone surrogates', '{"\\ud800":"a\\udfffb","x":"\\ud83d"}'],
  ['surrogates in the wrong order', '"\\ude82\\ud83d"'],
  ['U+0000', '{"\\u0000":"a\\u0000b"}'],
  ['line separators', '{"\u2028":"\u2029","x":"\\u2028\\u2029"}'],
  ['every control character', JSON.stringify(Array.from({ length: 33 }, (_, i) => String.fromCharCode(i)).join(''))],
  ['escapes', '"\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9"'],
  ['a byte order mark', '"\ufeffa\ufeff"'],
  ['characters that are not to be used', '"\\ufffe\\uffff\\ufffd"'],
  ['combining characters', '["e\u0301","\u00e9"]'],
  ['big integers', '[9007199254740991,9007199254740993,12345678901234567890,-9007199254740993]'],
  ['-0', '{"a":-0,"b":[-0.0]}'],
  ['1e20 and its neighbours', '[1e20,1e21,1E+22,100000000000000000000,1e-6,1e-7]'],
  ['the limits of a double', '[1.7976931348623157e308,5e-324,-1.7976931348623157e308,1e-400]'],
  ['decimals', '[0.1,0.30000000000000004,1.0,3.14159265358979323846,-2.5]'],
  ['the white space of a caller', ' { "a" :\t[ 1 ,\r\n2 ] } '],
  // Below the 32 KB from which the reply parser of ioredis keeps a timer.
  ['a long string', JSON.stringify('abcdefghij'.repeat(1_000))],
  ['a long string of 3-byte characters', JSON.stringify('日本語'.repeat(1_000))],
  ['many entries', JSON.stringify(Array.from({ length: 2_000 }, (_, i) => i))],
  ['objects of 64 levels', objects(64)],
  ['arrays of 64 levels', arrays(64)],
];

/** Parse a text as JavaScript does and write it again. Unlike toEqual, this shows key order and `__proto__`. */
const asRead = (text: string) => JSON.stringify(JSON.parse(text));
/** Return an error as it is stored: lone surrogates become U+FFFD. */
const asError = (text: string) => asRead(text).replace(/(?<!\\)\\ud[89a-f]../g, '\ufffd');
const written = (value: unknown) => JSON.stringify(value);

const isText = ([, text]: [string, string]) => text.startsWith('"');
const isError = (text: string) => ['{', '"'].includes(text.trim().charAt(0));

const get = async (id: string) => (await service.call('GET', `/jobs/${id}`)).body;
const post = async (path: string, raw?: string) => {
  const response = await service.call('POST', path, { raw });
  if (response.status >= 300) throw new Error(`${path}: ${response.text}`);
  return response.body;
};
/** Make further calls on a job, each a verb and its body. */
async function go(id: string, ...calls: [verb: string, raw?: string][]) {
  for (const [verb, raw] of calls) await post(`/jobs/${id}/${verb}`, raw);
}

/** Number of cases. Each uses a space of its own, so that lists and polls see only its jobs. */
let cases = 0;
const newSpace = () => `json-${++cases}`;

/** Return the data of the latest event of a type, as JSON text. */
const dataOf = async (id: string, wanted: string) =>
  written((await get(id)).events.findLast(({ type }: { type: string }) => type === wanted).data);

it.each(VALUES)('returns %s unchanged as payload, event, checkpoint, error and result', async (_, text) => {
  const spaceId = newSpace();
  // An array or a scalar goes into an object, which adds a level; values of 64 levels have no room for it.
  const payload = text.trim().startsWith('{') ? text : `{"v":${text.replace(arrays(64), arrays(63))}}`;
  const [value, sent] = [asRead(text), asRead(payload)];
  const error = isError(text) ? text : '"again"';

  const created = await post(`/spaces/${spaceId}/jobs`, `{"name":"work","payload":${payload},"maxRetries":1}`);
  const { id } = created;
  const listed = (await service.call('GET', `/spaces/${spaceId}/jobs`)).body[0];
  const { job } = await post(`/jobs/${id}/claim`);
  for (const shown of [created, listed, job, await get(id)]) expect(written(shown.payload)).toBe(sent);

  await go(id, ['ack'], ['event', text], ['checkpoint', text]);
  expect([await dataOf(id, 'event'), await dataOf(id, 'checkpoint')]).toEqual([value, value]);
  await go(id, ['fail', `{"error":${error}}`]);
  expect(await dataOf(id, 'retried')).toBe(`{"error":${asError(error)},"attemptNumber":1}`);

  const [polled] = (await post(`/spaces/${spaceId}/jobs/poll`)).jobs;
  expect([written(polled.payload), written(polled.checkpoint)]).toEqual([sent, value]);
  await go(id, ['ack'], ['complete', `{"result":${text}}`]);
  const ended = (await service.call('GET', `/spaces/${spaceId}/jobs`)).body[0];
  expect([written((await get(id)).result), written(ended.result)]).toEqual([value, value]);
  expect(await dataOf(id, 'completed')).toBe(value);
});

it.each(VALUES.filter(([, text]) => isError(text)))(
  'returns %s unchanged as the error of a dead job',
  async (_, text) => {
    const id = await jobIn(service, 'running', newSpace(), { maxRetries: 0 });
    await go(id, ['fail', `{"error":${text}}`]);
    expect(await dataOf(id, 'dead')).toBe(`{"error":${asError(text)}}`);
  },
);

it.each(VALUES.filter(isText))(
  'returns %s unchanged as a progress message and as the reason of a kill',
  async (_, text) => {
    const id = await jobIn(service, 'running', newSpace());
    if (text !== '""') {
      await go(id, ['progress', `{"percent":1,"message":${text}}`]);
      const { progress } = (await service.call('GET', `/jobs/${id}/progress`)).body;
      expect(written(progress)).toBe(`{"percent":1,"message":${asRead(text)}}`);
    }
    await go(id, ['kill', `{"reason":${text}}`]);
    expect(await dataOf(id, 'killed')).toBe(`{"reason":${asRead(text)}}`);
  },
);

it('returns a missing payload, result or reason as null', async () => {
  const id = await jobIn(service, 'running', 'left-out');
  await go(id, ['complete', '{}']);
  const job = await get(id);
  expect([job.payload, job.result, job.events.at(-1).data]).toEqual([null, null, null]);
  const killed = await jobIn(service, 'pending', 'left-out', { payload: null });
  await go(killed, ['kill', '{}']);
  expect([(await get(killed)).payload, await dataOf(killed, 'killed')]).toEqual([null, '{"reason":null}']);
});

it('replaces the previous checkpoint of a job, even with null', async () => {
  const id = await jobIn(service, 'running', 'replaced');
  await go(id, ['checkpoint', '{"page":1}'], ['checkpoint', 'null'], ['fail', '{"error":"again"}']);
  expect((await post(`/jobs/${id}/claim`)).job.checkpoint).toBeNull();
  await go(id, ['ack'], ['checkpoint', '{"page":3}'], ['fail', '{"error":"again"}']);
  expect((await post(`/jobs/${id}/claim`)).job.checkpoint).toEqual({ page: 3 });
});

it('keeps the stages of a progress report by name and in order', async () => {
  const id = await jobIn(service, 'running', newSpace());
  const stages =
    '{"z":{"percent":1},"__proto__":{"percent":2,"message":"\\ud800"},"a":{"percent":0.5},"constructor":{"percent":3}}';
  await go(id, ['progress', `{"percent":1,"message":"on it","subProgress":${stages}}`]);
  const { progress } = (await service.call('GET', `/jobs/${id}/progress`)).body;
  expect(written(progress.subProgress)).toBe(asRead(stages));
  expect(await dataOf(id, 'progress')).toBe(written(progress));
});

it('keeps the callback headers of a job by name and in order', async () => {
  const headers = '{"z":"1","a":"3","constructor":"4"}';
  const fields = `"callbackHeaders":${headers},"callbackUrl":"http://a/"`;
  const body = await post('/spaces/headers/jobs', `{"name":"work",${fields}}`);
  expect([written(body.callbackHeaders), written((await get(body.id)).callbackHeaders)]).toEqual([headers, headers]);
});

it.each(['\0', '\u2028', '🚂', 'a"b\\c', '../..', '__proto__', 'a:b/c{d}*', ' '])(
  'a poll finds a job by its name %j',
  async (name) => {
    const spaceId = newSpace();
    await createJob(service, spaceId, { name: 'other' });
    const { id } = await createJob(service, spaceId, { name });
    const { jobs } = await post(`/spaces/${spaceId}/jobs/poll`, JSON.stringify({ count: 9, type: name }));
    expect(jobs).toMatchObject([{ id, name }]);
  },
);
