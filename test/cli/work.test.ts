import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { createJob } from '../support/jobs.js';
import { withService } from '../support/service.js';
import { until } from '../support/until.js';
import { asAdmin } from './logs.js';
import { withProxy } from './proxy.js';
import { historyOf, isAlive, pidOf, read, signal, startWorker, UNTIL_USR1, whenIn } from './worker.js';
import { endAll, type ProcessRun, yardmaster } from './yardmaster.js';

const service = withService();

/** Create a job whose name is the script to run. */
const createScript = (script: string, fields: object = {}) =>
  createJob(service, 'work-scripts', { name: script, maxRetries: 0, ...fields });

describe('how a program ends', () => {
  let worker: ProcessRun;
  beforeAll(() => {
    worker = startWorker(service, { spaceId: 'work-scripts', options: ['--concurrency', '2'] });
  });
  afterAll(async () => {
    signal(worker, 'SIGTERM');
    expect(await worker.exit()).toBe(0);
    endAll();
  });

  it.each([
    ['JSON', `echo '{"width": 320}'`, { width: 320 }],
    ['a JSON string', `echo '"done"'`, 'done'],
    ['nothing', ':', null],
    ['text', 'echo one; echo two', { output: 'one\ntwo\n' }],
    ['JSON and more', `echo '{} {}'`, { output: '{} {}\n' }],
    ['its payload', 'cat', { image: 'a.png' }],
    ['its variables', 'echo "[\\"$YARDMASTER_ATTEMPT\\", \\"$YARDMASTER_CHECKPOINT\\"]"', ['1', '']],
  ])('work completes the job of a program that exits with 0 after writing %s', async (_, script, result) => {
    const { id } = await createScript(script, { payload: { image: 'a.png' } });
    expect(await whenIn(service, 'completed', id)).toMatchObject({ result, attemptNumber: 1 });
  });

  it('work completes a job with the first 32 KB of a long text, without splitting a character', async () => {
    const { id } = await createScript(`printf x; yes é | head -c 300000 | tr -d '\\n'`);
    const { result } = await whenIn(service, 'completed', id);
    expect(result).toEqual({ output: `x${'é'.repeat(16_383)}`, truncated: true });
  });

  it('work passes the ID of the job to its program', async () => {
    const { id } = await createScript(`echo "\\"$YARDMASTER_JOB_ID\\""`);
    expect((await whenIn(service, 'completed', id)).result).toBe(id);
  });

  it('work retries a job whose program exits with 75, and passes its checkpoint to the next attempt', async () => {
    const script =
      'echo "checkpoint [7]" >&3; echo busy >&2; test $YARDMASTER_ATTEMPT = 2 || exit 75; echo $YARDMASTER_CHECKPOINT';
    const { id } = await createScript(script, { maxRetries: 1 });
    const job = await whenIn(service, 'completed', id);
    expect(job).toMatchObject({ attemptNumber: 2, error: { name: 'exit 75', message: 'busy' }, result: [7] });
    expect(historyOf(job)).toContain('retried');
  });

  it('work makes a job dead when its program exits with 65, even if retries are left', async () => {
    const { id } = await createScript('echo "no image" >&2; exit 65', { maxRetries: 5 });
    expect(await whenIn(service, 'dead', id)).toMatchObject({
      attemptNumber: 1,
      error: { name: 'exit 65', message: 'no image' },
    });
  });

  it.each([
    ['the end of the standard error', 'seq 1 30 >&2; exit 3', Array.from({ length: 20 }, (_, i) => i + 11).join('\n')],
    ['the exit code, without a standard error', 'exit 3', 'the program exited with code 3'],
    ['the signal that ended it', 'kill -SEGV $$', 'the program was killed by SIGSEGV'],
  ])('work fails a job with %s as its error', async (_, script, error) => {
    const { id } = await createScript(script);
    expect(await whenIn(service, 'dead', id)).toMatchObject({ attemptNumber: 1, error: { message: error } });
  });

  it('work retries a job whose program exits with any other code', async () => {
    const { id } = await createScript('test $YARDMASTER_ATTEMPT = 2 || exit 3', { maxRetries: 1 });
    expect(await whenIn(service, 'completed', id)).toMatchObject({ attemptNumber: 2 });
  });

  it('work fails a job whose result is refused, with the reason', async () => {
    const { id } = await createScript(
      `printf '['; for i in $(seq 70); do printf '['; done; for i in $(seq 71); do printf ']'; done`,
    );
    const { error } = await whenIn(service, 'dead', id);
    expect(error).toMatchObject({
      name: 'InvalidResult',
      message: expect.stringContaining('The service refuses the result: result '),
    });
  });

  it('work ends processes that a program leaves behind with its outputs open', async () => {
    const { id } = await createScript('sleep 300 & echo \\"$!\\"');
    const { result } = await whenIn(service, 'completed', id);
    await until(() => !isAlive(Number(result)));
  });
});

describe('what a program reports', () => {
  afterEach(endAll);

  it('work reports lines of file descriptor 3 in order', async () => {
    const lines = [
      'progress 12.5% Reading',
      'checkpoint {"page": 7}',
      'event "half-way"',
      'progress {"percent": 60, "message": "Resizing", "subProgress": {"decode": {"percent": 100}}}',
      'log warn low on memory',
      'log error disk full',
    ];
    const { id } = await createJob(service, 'work-reports');
    startWorker(service, { spaceId: 'work-reports', script: `cat >&3 <<'END'\n${lines.join('\n')}\nEND\n` });
    const { events } = await whenIn(service, 'completed', id);
    const reports = events.slice(3, -1).map(({ type, data }) => [type, data]);
    expect(reports).toEqual([
      ['progress', { percent: 12.5, message: 'Reading' }],
      ['checkpoint', { page: 7 }],
      ['event', 'half-way'],
      ['progress', { percent: 60, message: 'Resizing', subProgress: { decode: { percent: 100 } } }],
    ]);
    expect(await logsOf(id)).toEqual([
      ['warn', 'low on memory'],
      ['error', 'disk full'],
    ]);
  });

  it('work continues after malformed report lines, and logs them on stderr and in the log of the job', async () => {
    const script = `printf 'progress 400 x\\nshout hello\\ncheckpoint {\\n\\nlog loud x\\nprogress 40' >&3; echo 1`;
    const { id } = await createJob(service, 'work-malformed');
    const worker = startWorker(service, { spaceId: 'work-malformed', script });
    const job = await whenIn(service, 'completed', id);
    const notices = [
      'line 1 of file descriptor 3 is invalid: percent must be between 0 and 100',
      'line 2 of file descriptor 3 is invalid: it must start with progress, checkpoint, event, log',
      'line 3 of file descriptor 3 is invalid: the text after the first word must be JSON',
      'line 5 of file descriptor 3 is invalid: level must be one of trace, debug, info, warn, error, fatal',
    ];
    expect(await logsOf(id)).toEqual(notices.map((notice) => ['warn', notice]));
    expect(worker.err().split('\n')).toEqual([...notices.map((notice) => `${id} ${notice}`), '']);
    expect(job).toMatchObject({ result: 1, progress: { percent: 40, message: '40%' } });
  });

  it('work continues after the service refuses a report', async () => {
    const { id } = await createJob(service, 'work-refused');
    const script = `printf 'checkpoint "%s"\\nevent 1\\n' "$(head -c 100000 /dev/zero | tr '\\0' x)" >&3; echo 2`;
    const worker = startWorker(service, { spaceId: 'work-refused', script });
    expect(historyOf(await whenIn(service, 'completed', id)).slice(3)).toEqual(['event', 'completed']);
    expect(worker.err()).toContain(`${id} a report was dropped: `);
  });

  async function logsOf(id: string) {
    const { body } = await service.call('GET', `/jobs/${id}/logs`);
    return body.logs.map(({ level, message }: { level: string; message: string }) => [level, message]);
  }
});

describe('a worker and its service', () => {
  const proxy = withProxy(service);
  afterEach(endAll);

  it('work claims only jobs with its names, and sends its worker ID', async () => {
    const { id: other } = await createJob(service, 'work-names', { name: 'crop' });
    const { id } = await createJob(service, 'work-names', { name: 'resize' });
    const options = ['--name', 'resize', '--worker-id', 'w-1'];
    const worker = startWorker(service, { spaceId: 'work-names', script: 'sleep 100', options });
    await worker.shows(`${id} resize started attempt 1`);
    expect(await read(service, id)).toMatchObject({ status: 'running', workerId: 'w-1' });
    expect(await read(service, other)).toMatchObject({ status: 'pending' });
    signal(worker, 'SIGTERM');
    await until(() => worker.err().includes('stopping: waiting for 1 running'));
    signal(worker, 'SIGINT');
    expect(await worker.exit()).toBe(130);
  });

  it('work reports the outcome of a program after an outage of the service', async () => {
    const { id } = await createJob(service, 'work-away');
    const worker = startWorker(proxy, { spaceId: 'work-away', script: UNTIL_USR1 });
    const pid = await pidOf(worker);
    proxy.cut();
    process.kill(pid, 'SIGUSR1');
    await until(() => !isAlive(pid));
    proxy.restore();
    expect(await whenIn(service, 'completed', id)).toMatchObject({ result: 1, attemptNumber: 1 });
  });

  it('work releases the job and exits with 1 when its program cannot be started', async () => {
    const { id } = await createJob(service, 'work-absent');
    const run = yardmaster(['work', '--space', 'work-absent', '--exec', './absent'], asAdmin(service));
    const [code, , err] = await run.end();
    expect([code, err]).toEqual([1, expect.stringContaining('yardmaster: cannot start ./absent: ENOENT\n')]);
    expect(await read(service, id)).toMatchObject({ status: 'pending', attemptNumber: 0 });
  });

  it('work exits with 1 and the reason when its key may not claim jobs', async () => {
    const { key } = await service.key(['jobs:read']);
    const worker = startWorker(service, { spaceId: 'work-forbidden', env: { YARDMASTER_API_KEY: key } });
    expect(await worker.end()).toEqual([1, [], 'yardmaster: Missing required scope: jobs:poll\n']);
  });
});
