import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createJob, jobIn } from '../support/jobs.js';
import { startService, type TestService } from '../support/service.js';

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

const objects = (levels: number) => `${'{"a":'.repeat(levels - 1)}{}${'}'.repeat(levels - 1)}`;
const arrays = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);

/** JSON as a caller writes it. Text, since a JavaScript value could not say half of this. */
const VALUES: [what: string, text: string][] = [
  ['an empty object', '{}'],
  ['an empty array', '[]'],
  ['nested empties', '{"a":[],"b":{},"c":[[],{},[{}],[[]]],"d":{"e":{},"f":[]}}'],
  ['null', 'null'],
  ['null inside', '{"a":null,"b":[null,{"c":null}]}'],
  ['booleans', '[true,false]'],
  ['false', 'false'],
  ['zero', '0'],
  ['the empty string', '""'],
  ['a string', '"text"'],
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
  ['the ends of a double', '[1.7976931348623157e308,5e-324,-1.7976931348623157e308,1e-400]'],
  ['decimals', '[0.1,0.30000000000000004,1.0,3.14159265358979323846,-2.5]'],
  ['the white space of a caller', ' { "a" :\t[ 1 ,\r\n2 ] } '],
  // Below the 32 KB from which the reply parser of ioredis keeps a timer.
  ['a long string', JSON.stringify('abcdefghij'.repeat(1_000))],
  ['a long string of 3-byte characters', JSON.stringify('日本語'.repeat(1_000))],
  ['many entries', JSON.stringify(Array.from({ length: 2_000 }, (_, i) => i))],
  ['objects of 60 levels', objects(60)],
  ['objects of 64 levels', objects(64)],
  ['arrays of 60 levels', arrays(60)],
  ['arrays of 64 levels', arrays(64)],
];

/** What JavaScript makes of a text, written again: tells key order and `__proto__` apart, which toEqual does not. */
const asRead = (text: string) => JSON.stringify(JSON.parse(text));
const written = (value: unknown) => JSON.stringify(value);

const get = async (id: string) => (await service.call('GET', `/jobs/${id}`)).body;
const post = (path: string, raw: string) => service.call('POST', path, { raw });

/** A space of each case's own, so that lists and polls see its jobs only. */
let cases = 0;
const newSpace = () => `json-${++cases}`;

describe('payload', () => {
  const asPayload = VALUES.map(([what, text]): [string, string] => {
    const isObject = text.trim().startsWith('{');
    // An array or a scalar goes into an object, which is a level; those of 64 levels have no room for it.
    return [what, isObject ? text : `{"v":${text.replace(arrays(64), arrays(63))}}`];
  });

  it.each(asPayload)('%s goes from create through get, list, poll and claim unchanged', async (_, text) => {
    const spaceId = newSpace();
    const expected = asRead(text);

    const created = await post(`/spaces/${spaceId}/jobs`, `{"name":"work","payload":${text}}`);

    expect(written(created.body.payload)).toBe(expected);
    const { id } = created.body;
    expect(written((await get(id)).payload)).toBe(expected);
    expect(written((await service.call('GET', `/spaces/${spaceId}/jobs`)).body[0].payload)).toBe(expected);
    expect(written((await service.call('POST', `/jobs/${id}/claim`)).body.job.payload)).toBe(expected);

    await post(`/spaces/${spaceId}/jobs`, `{"name":"work","payload":${text}}`);
    const polled = await service.call('POST', `/spaces/${spaceId}/jobs/poll`);
    expect(written(polled.body.jobs[0].payload)).toBe(expected);
  });

  it('null is given back as null', async () => {
    const { body } = await post('/spaces/null/jobs', '{"name":"work","payload":null}');
    expect(body.payload).toBeNull();
    expect((await get(body.id)).payload).toBeNull();
  });
});

describe('result', () => {
  it.each(VALUES)('%s goes from complete to get, list and the completed event unchanged', async (_, text) => {
    const spaceId = newSpace();
    const id = await jobIn(service, 'running', spaceId);

    await post(`/jobs/${id}/complete`, `{"result":${text}}`);

    const job = await get(id);
    const completed = job.events.at(-1);
    const listed = (await service.call('GET', `/spaces/${spaceId}/jobs`)).body[0];
    expect([job.status, completed.type]).toEqual(['completed', 'completed']);
    for (const value of [job.result, completed.data, listed.result]) expect(written(value)).toBe(asRead(text));
  });

  it('is null when it is left out', async () => {
    const id = await jobIn(service, 'running', 'left-out');
    await post(`/jobs/${id}/complete`, '{}');
    const job = await get(id);
    expect([job.result, job.events.at(-1).data]).toEqual([null, null]);
  });
});

describe('checkpoint', () => {
  it.each(VALUES)('%s goes to the history and to the next attempt unchanged', async (_, text) => {
    const spaceId = newSpace();
    const id = await jobIn(service, 'running', spaceId);

    await post(`/jobs/${id}/checkpoint`, text);

    const { type, data } = (await get(id)).events.at(-1);
    expect(type).toBe('checkpoint');
    expect(written(data)).toBe(asRead(text));

    await post(`/jobs/${id}/fail`, '{"error":"again"}');
    const claimed = await service.call('POST', `/jobs/${id}/claim`);
    expect(written(claimed.body.job.checkpoint)).toBe(asRead(text));

    await service.call('POST', `/jobs/${id}/ack`);
    await post(`/jobs/${id}/fail`, '{"error":"and again"}');
    const polled = await service.call('POST', `/spaces/${spaceId}/jobs/poll`);
    expect(written(polled.body.jobs[0].checkpoint)).toBe(asRead(text));
  });

  it('replaces the one before, also with null', async () => {
    const id = await jobIn(service, 'running', 'replaced');
    await post(`/jobs/${id}/checkpoint`, '{"page":1}');
    await post(`/jobs/${id}/checkpoint`, 'null');
    await post(`/jobs/${id}/fail`, '{"error":"again"}');
    expect((await service.call('POST', `/jobs/${id}/claim`)).body.job.checkpoint).toBeNull();
  });
});

describe('event data', () => {
  it.each(VALUES)('%s goes to the history unchanged', async (_, text) => {
    const id = await jobIn(service, 'running', newSpace());
    await post(`/jobs/${id}/event`, text);
    const { type, data } = (await get(id)).events.at(-1);
    expect(type).toBe('event');
    expect(written(data)).toBe(asRead(text));
  });
});

describe('error of a failure', () => {
  const asError = VALUES.filter(([, text]) => ['{', '"'].includes(text.trim().charAt(0)));

  it.each(asError)('%s goes to the events retried and dead unchanged', async (_, text) => {
    const id = await jobIn(service, 'running', newSpace(), { maxRetries: 1 });
    await post(`/jobs/${id}/fail`, `{"error":${text}}`);
    await service.call('POST', `/jobs/${id}/claim`);
    await service.call('POST', `/jobs/${id}/ack`);
    await post(`/jobs/${id}/fail`, `{"error":${text}}`);

    const events: { type: string; data: unknown }[] = (await get(id)).events;

    const data = (type: string) => events.find((event) => event.type === type)?.data;
    expect(written(data('retried'))).toBe(`{"error":${asRead(text)},"attemptNumber":1}`);
    expect(written(data('dead'))).toBe(`{"error":${asRead(text)}}`);
  });
});

describe('the other texts', () => {
  const strings = VALUES.filter(([, text]) => text.startsWith('"'));

  it.each(strings)('%s as the reason of a kill goes to the history unchanged', async (_, text) => {
    const { id } = await createJob(service, newSpace());
    await post(`/jobs/${id}/kill`, `{"reason":${text}}`);
    expect(written((await get(id)).events.at(-1).data)).toBe(`{"reason":${asRead(text)}}`);
  });

  it.each(strings.filter(([, text]) => text !== '""'))('%s as a progress message is given back', async (_, text) => {
    const id = await jobIn(service, 'running', newSpace());
    await post(`/jobs/${id}/progress`, `{"percent":1,"message":${text}}`);
    const { progress } = (await service.call('GET', `/jobs/${id}/progress`)).body;
    expect(written(progress)).toBe(`{"percent":1,"message":${asRead(text)}}`);
  });

  it('keeps the stages of a progress by name and in order', async () => {
    const id = await jobIn(service, 'running', newSpace());
    const stages =
      '{"z":{"percent":1},"__proto__":{"percent":2,"message":"\\ud800"},"a":{"percent":0.5},"constructor":{"percent":3}}';
    await post(`/jobs/${id}/progress`, `{"percent":1,"message":"on it","subProgress":${stages}}`);
    const { progress } = (await service.call('GET', `/jobs/${id}/progress`)).body;
    expect(written(progress.subProgress)).toBe(asRead(stages));
    expect(written((await get(id)).events.at(-1).data)).toBe(written(progress));
  });

  it('keeps the callback headers by name and in order', async () => {
    const headers = '{"z":"1","a":"3","constructor":"4"}';
    const { body } = await post(
      '/spaces/headers/jobs',
      `{"name":"work","callbackHeaders":${headers},"callbackUrl":"http://a/"}`,
    );
    expect(written(body.callbackHeaders)).toBe(headers);
    expect(written((await get(body.id)).callbackHeaders)).toBe(headers);
  });

  it.each(['\0', '\u2028', '🚂', 'a"b\\c', '../..', '__proto__', 'a:b/c{d}*', ' '])(
    'the job name %j is found by a poll for it',
    async (name) => {
      const spaceId = newSpace();
      await createJob(service, spaceId, { name: 'other' });
      const { id } = await createJob(service, spaceId, { name });
      const { body } = await service.call('POST', `/spaces/${spaceId}/jobs/poll`, { body: { count: 9, type: name } });
      expect(body.jobs).toMatchObject([{ id, name }]);
    },
  );
});

describe('what JSON cannot carry is refused', () => {
  const DEEP = 'must not nest deeper than 64 levels';
  const BEYOND = 'must not contain a number beyond the range of a double';
  const refused: [what: string, text: string, rule: string][] = [
    ['objects of 65 levels', objects(65), DEEP],
    ['objects of 20 000 levels', objects(20_000), DEEP],
    ['1e400', '{"a":1e400}', BEYOND],
    ['-1e400', '{"a":[-1e400]}', BEYOND],
    ['an integer of 400 digits', `{"a":${'9'.repeat(400)}}`, BEYOND],
  ];

  describe.each(refused)('%s', (_, text, rule) => {
    it('as payload', async () => {
      const { status, body } = await post('/spaces/json-refused/jobs', `{"name":"work","payload":${text}}`);
      expect({ status, body }).toEqual({ status: 400, body: { error: `payload ${rule}`, code: 'INVALID_REQUEST' } });
      expect((await service.call('GET', '/spaces/json-refused/jobs')).body).toEqual([]);
    });

    it.each([
      { verb: 'complete', raw: `{"result":${text}}`, field: 'result' },
      { verb: 'checkpoint', raw: text, field: 'body' },
      { verb: 'event', raw: text, field: 'body' },
      { verb: 'fail', raw: `{"error":${text}}`, field: 'error' },
    ])('as $field of $verb', async ({ verb, raw, field }) => {
      const id = await jobIn(service, 'running', 'kept');
      const before = await get(id);
      const { status, body } = await post(`/jobs/${id}/${verb}`, raw);
      expect({ status, body }).toEqual({ status: 400, body: { error: `${field} ${rule}`, code: 'INVALID_REQUEST' } });
      expect(await get(id)).toEqual(before);
    });
  });
});
