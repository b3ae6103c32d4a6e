import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createJob, jobIn, step } from '../support/jobs.js';
import { withService } from '../support/service.js';
import { ADMIN_KEY } from '../support/shared-service.js';
import { StreamClient } from '../support/stream-client.js';
import { until } from '../support/until.js';
import { afterIn, ENDED, entry, pageOf, serve, stopServing } from './fake-service.js';
import { append, entriesOf, infos, isFollowed, logs, logsHere, numbered } from './logs.js';
import { withProxy } from './proxy.js';
import { endAll, type Run } from './yardmaster.js';

const service = withService();
const proxy = withProxy(service);
beforeEach(() => {
  proxy.restore();
  proxy.requests.length = 0;
  proxy.responded.length = 0;
});
afterEach(endAll);
afterEach(stopServing);

/** Follow a job, and wait until its stream is open. */
async function follow(jobId: string, ...flags: string[]): Promise<Run> {
  const run = logsHere(service, [jobId, '--follow', ...flags]);
  await isFollowed(service, jobId);
  return run;
}

const ENDS = [
  ['completed', 'complete', {}, 0],
  ['dead', 'fail', { error: 'no' }, 3],
  ['killed', 'kill', {}, 4],
] as const;

it('logs --follow prints all stored entries, then each new entry, until the job ends', async () => {
  const id = await jobIn(service, 'running', 'follow');
  await append(service, id, numbered(2));
  const run = logs(service, id, '--follow');
  await isFollowed(service, id);
  await run.shows('entry 2\n');
  await append(service, id, numbered(1, 3));
  await run.shows('entry 3\n');
  await append(service, id, numbered(2, 4));
  await run.shows('entry 5\n');
  await step(service, id, 'complete');
  expect(await run.end()).toEqual([0, infos(numbered(5)), '']);
});

it('logs --follow follows a pending job through its first and its next attempt', async () => {
  const { id } = await createJob(service, 'retry', { maxRetries: 1 });
  const run = await follow(id);
  for (const attempt of ['first', 'second']) {
    await step(service, id, 'claim');
    await step(service, id, 'ack');
    await append(service, id, [`${attempt} attempt`, { message: 'oh no', level: 'error' }]);
    await step(service, id, 'fail', { error: 'no' });
  }
  const lines = ['info  first attempt', 'error oh no', 'info  second attempt', 'error oh no'];
  expect(await run.end()).toEqual([3, lines, '']);
});

it.each(ENDS)(
  'logs --follow prints all entries from before the job was %s, and exits like watch',
  async (_, verb, body, code) => {
    const id = await jobIn(service, 'running', 'ends', { maxRetries: 0 });
    const run = await follow(id);
    await append(service, id, numbered(1_000));
    await append(service, id, numbered(700, 1_001));
    await step(service, id, verb, body);
    expect(await run.end()).toEqual([code, infos(numbered(1_700)), '']);
  },
);

it.each(ENDS)(
  'logs --follow prints the logs of a job that is already %s, and exits like watch',
  async (status, _v, _b, code) => {
    const id = await jobIn(service, status, 'ended');
    await append(service, id, numbered(3));
    const run = logsHere(service, [id, '--follow']);
    expect(await run.end()).toEqual([code, infos(numbered(3)), '']);
  },
);

it('logs --follow exits with 5 when the stream ends without a message about the end of the job', async () => {
  const fake = await serve(
    (request, response) => response.end(pageOf([entry(1), entry(2)], Number(afterIn(request)))),
    (_send, stream) => stream.end(ENDED),
  );
  const run = logsHere(fake, ['job', '--follow']);
  expect((await run.end()).slice(0, 2)).toEqual([5, infos(numbered(2))]);
});

it.each([
  [0, []],
  [2, numbered(2, 9)],
  [50, numbered(10)],
])('logs --follow --tail %i starts with the newest entries, and then prints all new ones', async (count, before) => {
  const id = await jobIn(service, 'running', 'tail');
  await append(service, id, numbered(10));
  const run = await follow(id, '--tail', `${count}`);
  await append(service, id, numbered(600, 11));
  await step(service, id, 'complete');
  expect(await run.end()).toEqual([0, infos([...before, ...numbered(600, 11)]), '']);
});

it.each([
  ['--level warn', ['old-1', 'old-2', 'new-1', 'new-2']],
  ['--level warn --tail 1', ['old-2', 'new-1', 'new-2']],
  ['--level warn --tail 0', ['new-1', 'new-2']],
  ['--grep W-1 --tail 3', ['new-1']],
  ['--level error --tail 3', []],
])('logs --follow prints each entry that passes the filters %s exactly once', async (flags, messages) => {
  const warn = (message: string) => ({ level: 'warn', message });
  const id = await jobIn(service, 'running', 'level');
  await append(service, id, [...numbered(3), warn('old-1'), warn('old-2'), ...numbered(3)]);
  const run = await follow(id, '--json', ...flags.split(' '));
  for (const batch of [numbered(2), [warn('new-1'), 'x'], ['y'], [warn('new-2')], ['z']]) {
    await append(service, id, batch);
  }
  await step(service, id, 'complete');
  expect(await run.exit()).toBe(0);
  expect(entriesOf(run).map(({ message }) => message)).toEqual(messages);
});

describe('the requests of logs --follow', () => {
  const BEGINNING = ['?limit=500&after=0', 'stream', '?limit=500&after=2'];

  async function followTwo(id: string, ...flags: string[]): Promise<Run> {
    await append(service, id, numbered(2));
    const run = logsHere(proxy, [id, '--follow', ...flags]);
    await until(() => proxy.requests.length === BEGINNING.length);
    return run;
  }

  it('logs --follow sends no request while nothing happens, and exits with 124 after --timeout', async () => {
    const run = await followTwo(await jobIn(service, 'running', 'idle'), '--timeout', '3');
    expect(await run.end()).toEqual([124, infos(numbered(2)), 'yardmaster: timed out after 3 s\n']);
    expect(proxy.requests).toEqual(BEGINNING);
  });

  it('logs --follow sends one request for each append and one at the end, and none for other events', async () => {
    const id = await jobIn(service, 'running', 'busy');
    const run = await followTwo(id);
    for (let percent = 0; percent < 20; percent++) await step(service, id, 'progress', { percent, message: 'on' });
    await step(service, id, 'checkpoint', { page: 1 });
    await append(service, await jobIn(service, 'running', 'busy'), numbered(3));
    await append(service, id, numbered(2, 3));
    await run.shows('entry 4\n');
    await step(service, id, 'event', 'over');
    await step(service, id, 'complete');
    expect(await run.exit()).toBe(0);
    expect(proxy.requests).toEqual([...BEGINNING, '?limit=500&after=2', '?limit=500&after=4']);
  });

  it('logs --follow requests only entries after those that the filters have excluded', async () => {
    const id = await jobIn(service, 'running', 'filtered');
    const run = logsHere(proxy, [id, '--follow', '--level', 'warn,error', '--grep', 'a "b', '--tail', '0']);
    await until(() => proxy.requests.length === 3);
    await append(service, id, numbered(5));
    await until(() => proxy.responded.length === 3);
    await append(service, id, [{ level: 'warn', message: 'A "B' }]);
    await run.shows('A "B');
    await step(service, id, 'complete');
    expect(await run.exit()).toBe(0);
    const filters = 'level=warn%2Cerror&q=%22a+%22+%22b%22';
    const from = (seq: number) => `?limit=500&after=${seq}&${filters}`;
    expect(proxy.requests).toEqual(['?limit=1', 'stream', from(0), from(0), from(5), from(6)]);
  });

  it('logs --follow sends no request while its output is not read, and then one for all new entries', async () => {
    const id = await jobIn(service, 'running', 'slow');
    const watcher = await StreamClient.open(service.url, `/${id}?token=${ADMIN_KEY}`);
    await append(service, id, numbered(2));
    let take = () => {};
    const taken = new Promise<void>((resolve) => {
      take = resolve;
    });
    let prints = 0;
    // The second page is read after the init.
    const run = logsHere(proxy, [id, '--follow'], () => (++prints === 2 ? taken : null));
    await until(() => prints === 2);
    for (let i = 3; i <= 40; i++) await append(service, id, numbered(1, i));
    await until(() => watcher.messages.at(-1)?.data?.toSeq === 40);
    expect(proxy.requests).toEqual(BEGINNING);
    take();
    await until(() => prints === 3);
    await step(service, id, 'complete');
    expect(await run.end()).toEqual([0, infos(numbered(40)), '']);
    expect(proxy.requests).toEqual([...BEGINNING, '?limit=500&after=2', '?limit=500&after=40']);
    await watcher.close();
  });
});

describe('logs --follow that loses its connection', () => {
  /** Follow a job with two entries, and cut the connection. The stream has announced the second entry. */
  async function followAndCut(id: string): Promise<Run> {
    await append(service, id, numbered(1));
    const run = logsHere(proxy, [id, '--follow']);
    await until(() => proxy.requests.length === 3);
    await append(service, id, numbered(1, 2));
    await run.shows('entry 2\n');
    proxy.cut();
    await until(() => run.err() !== '');
    return run;
  }

  const LOST = 'connection lost (the connection broke), reconnecting\n';

  it('logs --follow reconnects after a lost connection, and prints each missed entry exactly once', async () => {
    const id = await jobIn(service, 'running', 'cut');
    const run = await followAndCut(id);
    await append(service, id, numbered(2, 3));
    await append(service, id, numbered(600, 5));
    proxy.restore();
    await run.shows('entry 604\n');
    await append(service, id, numbered(2, 605));
    await step(service, id, 'complete');
    expect(await run.end()).toEqual([0, infos(numbered(606)), LOST]);
  });

  it.each(ENDS)(
    'logs --follow prints the last entries and exits when a job was %s in an outage',
    async (_, verb, body, code) => {
      const id = await jobIn(service, 'running', 'meanwhile', { maxRetries: 0 });
      const run = await followAndCut(id);
      await append(service, id, numbered(2, 3));
      await step(service, id, verb, body);
      proxy.restore();
      expect(await run.end()).toEqual([code, infos(numbered(4)), LOST]);
    },
  );

  it('logs --follow waits for a service behind a proxy that accepts connections and closes them immediately', async () => {
    const id = await jobIn(service, 'completed', 'away');
    await append(service, id, numbered(2));
    proxy.cut();
    const run = logsHere(proxy, [id, '--follow']);
    await until(() => run.err() !== '');
    proxy.restore();
    const err = expect.stringMatching(/^cannot connect to \S+ \(.+\), reconnecting\n$/);
    expect(await run.end()).toEqual([0, infos(numbered(2)), err]);
  });

  it('logs --follow prints each entry once and in order, however often the connection is cut', async () => {
    const id = await jobIn(service, 'running', 'often');
    await append(service, id, numbered(2));
    const run = logsHere(proxy, [id, '--follow', '--json']);
    await run.shows('entry 2');
    await isFollowed(service, id);
    const newest = async () => (await service.call('GET', `/jobs/${id}/logs?limit=1`)).body.cursor.newestSeq as number;
    let isOver = false;
    const writing = ['a', 'b', 'c'].map(async (name) => {
      while (!isOver) await append(service, id, [name, `more of ${name}`]);
    });
    for (let times = 0; times < 3; times++) {
      proxy.cut();
      // Each outage is reported once, but the stream may not be back yet when the next outage starts.
      await until(() => run.err().includes('connection lost'));
      const last = await newest();
      proxy.restore();
      await run.shows(`"seq":${last + 1},`);
    }
    isOver = true;
    await Promise.all(writing);
    await step(service, id, 'complete');
    expect(await run.exit()).toBe(0);
    const seqs = Array.from({ length: await newest() }, (_, i) => i + 1);
    expect(entriesOf(run).map(({ seq }) => seq)).toEqual(seqs);
  });

  const AWAY = '{"error":"Storage is unavailable","code":"UNAVAILABLE"}';

  it('logs --follow reports once that logs cannot be read, even if the stream keeps sending', async () => {
    let timer: NodeJS.Timeout | undefined;
    const fake = await serve(
      (_request, response, nth) => {
        if (nth < 1 || nth > 3) response.end(pageOf([]));
        else response.writeHead(503).end(AWAY);
      },
      (send) => {
        send({ type: 'init' });
        timer = setInterval(() => {
          if (fake.requests > 3) send({ type: 'completed', status: 'completed' });
          else send({ type: 'progress', data: { percent: 1, message: '' } });
        }, 20);
      },
    );
    const run = logsHere(fake, ['job', '--follow']);
    expect([await run.exit(), run.err()]).toEqual([0, 'connection lost (Storage is unavailable), reconnecting\n']);
    clearInterval(timer);
  });

  it('logs --follow ends when its stream is refused, even while logs cannot be read', async () => {
    let refuse: () => void = () => undefined;
    const fake = await serve(
      (_request, response, nth) => {
        if (nth === 0) return response.end(pageOf([]));
        response.writeHead(503).end(AWAY);
        refuse();
      },
      (send, stream) => {
        refuse = () => stream.end('event: expired\ndata: {}\n\n');
        send({ type: 'init' });
      },
    );
    const run = logs(fake, 'job', '--follow'); // A process, because a pending request would keep it from ending.
    expect([await run.exit(), run.err().split('\n').at(-2)]).toEqual([1, 'yardmaster: The stream token has expired']);
  });

  it('logs --follow prints the entries that replaced entries lost by the service, and reports the loss', async () => {
    let kept = [entry(1, 'one'), entry(2, 'two'), entry(3, 'three')];
    let end: () => void = () => undefined;
    const fake = await serve(
      (request, response) => {
        const after = afterIn(request);
        response.end(pageOf(kept, Number(after)));
        // Add another entry once the CLI has noticed that some are gone.
        if (after === null) kept.push(entry(2, 'another two'));
        if (after === '1') end();
      },
      (send, stream) => {
        send({ type: 'init' });
        if (kept.length === 3) {
          kept = [entry(1, 'one')];
          stream.end();
        }
        end = () => send({ type: 'completed', status: 'completed' });
      },
    );
    const run = logsHere(fake, ['job', '--follow']);
    const err = 'connection lost (The server closed the stream), reconnecting\nthe service has lost entries 2 to 3\n';
    expect(await run.end()).toEqual([0, infos(['one', 'two', 'three', 'another two']), err]);
  });
});
