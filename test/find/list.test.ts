import { beforeAll, describe, expect, it } from '@jest/globals';
import { jobIn } from '../support/jobs.js';
import { withService } from '../support/service.js';

const service = withService();
const SPACE = 'find-list';

type Listed = { id: string; name: string; createdAt: string };
const list = (query: string, space = SPACE) => service.call('GET', `/spaces/${space}/jobs${query}`);

/** Ids of jobs by what they are; the oldest first. */
const made: Record<string, string> = {};
const namesOf = (jobs: Listed[]) => jobs.map(({ id }) => Object.keys(made).find((name) => made[name] === id));

beforeAll(async () => {
  made.dead = await jobIn(service, 'dead', SPACE, { name: 'crop', tags: ['eu'], payload: { image: 'Straße.png' } });
  made.completed = await jobIn(service, 'completed', SPACE, { name: 'resize', payload: { image: 'DOG.png' } });
  made.running = await jobIn(service, 'running', SPACE, { name: 'resize', tags: ['eu', 'big'] });
  made.killed = await jobIn(service, 'killed', SPACE, { name: 'scan & "send"' });
  made.pending = await jobIn(service, 'pending', SPACE, { name: 'crop', tags: ['big'] });
});

it.each([
  ['', ['pending', 'killed', 'running', 'completed', 'dead']],
  ['?order=asc', ['dead', 'completed', 'running', 'killed', 'pending']],
  ['?order=desc&limit=1', ['pending']],
  ['?status=dead&status=killed&status=dead', ['killed', 'dead']],
  ['?status=dead&status=killed&status=pending&order=asc', ['dead', 'killed', 'pending']],
  ['?name=crop', ['pending', 'dead']],
  ['?name=crop&name=resize&order=asc', ['dead', 'completed', 'running', 'pending']],
  ['?name=scan%20%26%20%22send%22', ['killed']],
  ['?name=Crop', []],
  ['?name=crop&status=dead', ['dead']],
  ['?tag=eu', ['running', 'dead']],
  ['?tag=eu&tag=big', ['running']],
  ['?tag=eu&status=dead&status=pending', ['dead']],
  ['?tag=big&name=crop', ['pending']],
  ['?tag=e', []],
  ['?q=dog.PNG', ['completed']],
  ['?q=STRASSE', ['dead']],
  ['?q=STRA%C3%9FE', ['dead']],
  ['?q=STRASSEN', []],
  ['?q=%22answer%22:42', ['completed']],
  ['?q=%22broken%22', ['dead']],
  ['?q=image&status=completed', ['completed']],
  ['?q=resize', []],
  ['?q=null', []],
  ['?createdAfter=2020-01-01T00:00:00Z', ['pending', 'killed', 'running', 'completed', 'dead']],
  ['?createdAfter=2999-01-01T00:00:00Z', []],
  ['?createdBefore=2020-01-01T00:00:00Z', []],
  ['?createdAfter=0000-01-01T00:00:00Z&createdBefore=9999-12-31T23:59:59Z&limit=2', ['pending', 'killed']],
])('the filters %s list the jobs %j', async (query, names) => {
  const { status, body } = await list(query);
  expect([status, namesOf(body)]).toEqual([200, names]);
});

it('createdBefore and createdAfter split jobs at a creation time without overlap or gap', async () => {
  const { body } = await list('');
  const at = body[2].createdAt;
  const later = body.filter((job: Listed) => job.createdAt >= at);
  const offset = encodeURIComponent(at.replace('Z', '+00:00'));
  expect((await list(`?createdAfter=${offset}`)).body).toEqual(later);
  expect((await list(`?createdBefore=${offset}`)).body).toEqual(body.slice(later.length));
});

describe('the next page of List Jobs', () => {
  /** Return the pages of a list by following one header, and the names on each. */
  async function pagesOf(query: string, by: 'cursor' | 'link'): Promise<unknown[]> {
    const pages: unknown[] = [];
    for (let next: string | null = query; next !== null && pages.length < 20; ) {
      const { body, headers } = await list(next);
      pages.push(namesOf(body));
      const cursor = headers['x-next-cursor'];
      const link = /^<(\?.*)>; rel="next"$/.exec(String(headers.link ?? ''))?.[1];
      expect(cursor === undefined).toBe(link === undefined);
      next = by === 'link' ? (link ?? null) : cursor === undefined ? null : `${query}&cursor=${cursor}`;
    }
    return pages;
  }

  it.each(['cursor', 'link'] as const)(
    'lists all pages when a client follows each %s, which the last page lacks',
    async (by) => {
      expect(await pagesOf('?limit=2', by)).toEqual([['pending', 'killed'], ['running', 'completed'], ['dead']]);
      expect(await pagesOf('?limit=5', by)).toEqual([['pending', 'killed', 'running', 'completed', 'dead']]);
      expect(await pagesOf('?limit=2&status=dead&status=pending&status=running&order=asc', by)).toEqual([
        ['dead', 'running'],
        ['pending'],
      ]);
      const query = '?limit=1&name=scan%20%26%20%22send%22&name=crop&createdAfter=2020-01-01T00%3A00%3A00%2B01%3A00';
      expect((await pagesOf(query, by)).flat()).toEqual(['pending', 'killed', 'dead']);
      expect((await pagesOf('?limit=1&tag=eu&q=i', by)).flat()).toEqual(['dead']);
    },
  );

  it('returns a cursor with a page that was requested by its offset', async () => {
    const { body, headers } = await list('?limit=2&offset=1');
    expect([namesOf(body), headers.link]).toEqual([
      ['killed', 'running'],
      `<?limit=2&cursor=${headers['x-next-cursor']}>; rel="next"`,
    ]);
    expect(namesOf((await list(`?cursor=${headers['x-next-cursor']}`)).body)).toEqual(['completed', 'dead']);
    expect((await list('?offset=4')).headers['x-next-cursor']).toBeUndefined();
    expect((await list('?offset=5')).body).toEqual([]);
  });

  it('omits the link to the next page if it would be longer than proxies allow', async () => {
    const names = Array.from({ length: 30 }, (_, n) => `name=${n}${'x'.repeat(100)}`).join('&');
    const { headers } = await list(`?${names}&name=crop&limit=1`);
    expect([headers.link, headers['x-next-cursor']]).toEqual([undefined, expect.stringMatching(/^\d+$/)]);
  });
});

describe('with CORS', () => {
  const cors = withService({ CORS_ORIGINS: '*' }, { app: 'api' });

  it('CORS lets pages of other origins read the cursor and link of the next page', async () => {
    const { headers } = await cors.call('GET', '/spaces/empty/jobs', { headers: { origin: 'https://example.com' } });
    const exposed = String(headers['access-control-expose-headers']).split(',');
    expect(exposed).toEqual(expect.arrayContaining(['x-next-cursor', 'link']));
  });
});

describe('a query of List Jobs that is refused', () => {
  const OFFSET = 'offset cannot be combined with cursor, order or a filter other than a single status; use cursor';
  const TIME = 'must be an ISO 8601 timestamp with a time zone';
  it.each([
    ['?status=open', 'status must be one of scheduled, pending, delivered, running, completed, dead, killed'],
    [
      '?status=dead&status=',
      'status[1] must be one of scheduled, pending, delivered, running, completed, dead, killed',
    ],
    ['?name=', 'name must be 1 to 128 characters'],
    [`?name=a&name=${'x'.repeat(129)}`, 'name[1] must be 1 to 128 characters'],
    [`?${'name=a&'.repeat(101)}`, 'name must have at most 100 names'],
    ['?tag=', 'tag must be 1 to 64 characters'],
    ['?tag=a&tag=a%0Ab', 'tag[1] must not contain control characters'],
    [`?${'tag=a&'.repeat(11)}`, 'tag must have at most 10 tags'],
    ['?q=', 'q must be 1 to 500 characters'],
    ['?createdAfter=2026-01-01', `createdAfter ${TIME}`],
    ['?createdBefore=2026-01-01T00:00:00', `createdBefore ${TIME}`],
    ['?createdBefore=2026-01-01T00:00:00+01:00', `createdBefore ${TIME}`],
    ['?order=up', 'order must be one of asc, desc'],
    ['?cursor=', 'cursor must be a cursor from an earlier response'],
    ['?cursor=-1', 'cursor must be a cursor from an earlier response'],
    ['?cursor=9999999999999999', 'cursor must be a cursor from an earlier response'],
    ['?cursor=5&offset=1', OFFSET],
    ['?order=asc&offset=1', OFFSET],
    ['?status=dead&status=killed&offset=1', OFFSET],
    ['?name=a&offset=1', OFFSET],
    ['?tag=a&offset=1', OFFSET],
    ['?q=a&offset=1', OFFSET],
    ['?createdAfter=2026-01-01T00:00:00Z&offset=1', OFFSET],
    ['?tags=a', 'unknown query parameter tags, did you mean tag?'],
    ['?Cursor=5', 'unknown query parameter Cursor, did you mean cursor?'],
  ])('refuses to list jobs with %s: %s', async (query, sentence) => {
    const { status, body } = await list(query);
    expect([status, body.error]).toEqual([400, sentence]);
  });

  it('accepts an offset of 0 with a cursor, and an offset with one status', async () => {
    expect((await list('?cursor=5&offset=0')).body).toEqual([]);
    expect(namesOf((await list('?status=dead&status=dead&offset=0')).body)).toEqual(['dead']);
    expect((await list('?status=dead&offset=1')).body).toEqual([]);
  });
});
