import { afterAll, beforeEach, describe, expect, it } from '@jest/globals';
import { createJobRequest, type LogsQuery, logsQuery, type NewLog } from '@yardmaster/protocol';
import {
  ANY_SPACE,
  appendLogs,
  createJob,
  createStore,
  packLog,
  readLogs,
  readSince,
  readSnapshot,
  type Store,
} from '@yardmaster/store';
import { connections } from './owing.js';

const { each, quit } = connections();
afterAll(quit);

describe.each(each)('logs on %s', (_name, redis) => {
  const store: Store = createStore(redis, { keyPrefix: `t-logs-${process.pid}`, logsPerJob: 1_500 });
  let id: string;
  beforeEach(async () => {
    id = (await createJob(store, 'logs', createJobRequest.parse({ name: 'work' }))).id;
  });

  const append = (logs: NewLog[]) => appendLogs(store, ANY_SPACE, id, logs.map(packLog));
  const numbered = (count: number, from = 1) =>
    Array.from({ length: count }, (_, i): NewLog => ({ message: `entry ${from + i}` }));
  const read = (query: Record<string, string> = {}) => readLogs(store, ANY_SPACE, id, logsQuery.parse(query));
  const seqs = async (query: Record<string, string>) => (await read(query)).logs.map(({ seq }) => seq);

  it('come back as they were appended', async () => {
    const metadata = JSON.parse('{"b":[],"a":{"__proto__":1},"n":1e21}');
    const at = Date.parse('2026-01-31T09:30:04.784Z');
    expect(
      await append([
        { message: 'plain' },
        { message: '"quoted"\n\u0001 é 🚂 \ud800', level: 'fatal', timestamp: at, source: 's', metadata },
        { message: '', timestamp: at, source: 'worker', metadata: {} },
      ]),
    ).toEqual({ success: true, inserted: 3, fromSeq: 1, toSeq: 3 });
    const { logs } = await read();
    const createdAt = logs[0]?.createdAt as string;
    expect(Math.abs(Date.parse(createdAt) - Date.now())).toBeLessThan(60_000);
    const [loggedAt, worker] = ['2026-01-31T09:30:04.784Z', 'worker'];
    expect(JSON.stringify(logs)).toEqual(
      JSON.stringify([
        {
          id: `${id}.1`,
          seq: 1,
          level: 'info',
          message: 'plain',
          source: worker,
          metadata: {},
          loggedAt: createdAt,
          createdAt,
        },
        {
          id: `${id}.2`,
          seq: 2,
          level: 'fatal',
          message: '"quoted"\n\u0001 é 🚂 \ud800',
          source: 's',
          metadata,
          loggedAt,
          createdAt,
        },
        { id: `${id}.3`, seq: 3, level: 'info', message: '', source: worker, metadata: {}, loggedAt, createdAt },
      ]),
    );
  });

  it('lose the oldest above the cap, and count on', async () => {
    expect(await append(numbered(1_000))).toMatchObject({ fromSeq: 1, toSeq: 1_000 });
    expect(await append(numbered(1_000, 1_001))).toMatchObject({ fromSeq: 1_001, toSeq: 2_000 });
    expect(await append(numbered(2_000, 2_001))).toMatchObject({ inserted: 2_000, fromSeq: 2_001, toSeq: 4_000 });
    const page = await read({ after: '0', limit: '1' });
    expect(page.logs).toMatchObject([{ seq: 2_501, message: 'entry 2501' }]);
    expect(page.cursor).toEqual({ mode: 'after', oldestSeq: 2_501, newestSeq: 2_501, hasMore: true });
    expect(await read({ before: '2501' })).toEqual({
      logs: [],
      cursor: { mode: 'before', oldestSeq: 2_501, newestSeq: 2_501, hasMore: false },
    });
    expect(await seqs({ before: '2503' })).toEqual([2_501, 2_502]);
    expect(await seqs({ limit: '2' })).toEqual([3_999, 4_000]);
  });

  it('are found by level and words, over several portions, in both directions', async () => {
    await append(numbered(1_000).map((log, i) => (i % 250 === 0 ? { ...log, level: 'error' } : log)));
    await append(numbered(400, 1_001));
    expect(await seqs({ level: 'error', after: '0' })).toEqual([1, 251, 501, 751]);
    expect(await seqs({ level: 'error', limit: '3' })).toEqual([251, 501, 751]);
    expect(await seqs({ q: 'ENTRY "y 139"', after: '5' })).toEqual([139, 1_390, ...range(1_391, 1_399)]);
    expect((await read({ level: 'error', limit: '4' })).cursor.hasMore).toBe(false);
    expect((await read({ level: 'error', limit: '3' })).cursor.hasMore).toBe(true);
    expect((await read({ level: 'error', limit: '3', after: '1' })).cursor.hasMore).toBe(false);
  });

  it('are refused to whom the job does not belong, and where there is none', async () => {
    const query: LogsQuery = logsQuery.parse({});
    const other = { spaceId: 'other' };
    await expect(appendLogs(store, other, id, [packLog({ message: 'x' })])).rejects.toMatchObject({
      code: 'FORBIDDEN',
    });
    await expect(readLogs(store, other, id, query)).rejects.toMatchObject({ code: 'FORBIDDEN' });
    const nobody = `${id.slice(0, 2)}${'a'.repeat(26)}`;
    for (const jobId of [nobody, 'x']) {
      const gone = { code: 'JOB_NOT_FOUND' };
      await expect(appendLogs(store, ANY_SPACE, jobId, [packLog({ message: 'x' })])).rejects.toMatchObject(gone);
      await expect(readLogs(store, ANY_SPACE, jobId, query)).rejects.toMatchObject(gone);
    }
  });

  it('are counted for streams', async () => {
    expect(await readSnapshot(store, ANY_SPACE, id)).toMatchObject({ seq: 1, logSeq: 0 });
    expect(await readSince(store, id, 2)).toMatchObject({ lastSeq: 1, newestLog: { seq: 0, at: 0 } });
    await append(numbered(1_000));
    await append(numbered(1_000, 1_001));
    const { createdAt } = (await read({ limit: '1' })).logs[0] as { createdAt: string };
    expect(await readSnapshot(store, ANY_SPACE, id)).toMatchObject({ seq: 1, logSeq: 2_000, updatedAt: null });
    expect(await readSince(store, id, 2)).toMatchObject({ newestLog: { seq: 2_000, at: Date.parse(createdAt) } });
  });
});

const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => from + i);
