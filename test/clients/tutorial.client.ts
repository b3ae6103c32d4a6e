import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { endAll, type ProcessRun, runCommand } from '../cli/yardmaster.js';
import { freePort } from '../support/free-port.js';
import { installed } from '../support/installed.js';
import { ADMIN_KEY, withService } from '../support/service.js';
import { until } from '../support/until.js';

// Type every block of docs/tutorial.md into a new bash.

const root = fileURLToPath(new URL('../../', import.meta.url));
const service = withService({}, { isOwn: true });

let dir: string;
beforeAll(async () => {
  installed('curl', 'curl');
  dir = await mkdtemp(join(tmpdir(), 'tutorial-'));
  await writeFile(join(dir, 'admin-key'), ADMIN_KEY);
});
afterAll(() => rm(dir, { recursive: true }));
afterAll(endAll);

/** Return the shell blocks of a page, with a folder of the test for the data. */
async function blocksOf(page: string): Promise<string[]> {
  const text = await readFile(root + page, 'utf8');
  return [...text.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block]) => block?.replaceAll('.data/', `${dir}/`) ?? '');
}

it('every block of the README works when it is pasted into one terminal', async () => {
  const [start, ...blocks] = await blocksOf('README.md');
  const port = String(await freePort());
  const url = `http://127.0.0.1:${port}`;
  const env = { HOME: dir, DATA_DIR: dir, PORT: port, YARDMASTER_URL: url };
  const terminal = runCommand('bash', ['--norc'], env);
  terminal.child.stdin?.write(start);
  await terminal.shows('"msg":"ready"'); // A person's terminal shows "Yardmaster is ready".
  terminal.child.stdin?.write(blocks.join(''));
  await terminal.shows('Resizing cat.png');
  const completed = `${url}/api/v1/spaces/demo/jobs?status=completed`;
  await until(async () => (await (await fetch(completed, { headers: { 'x-api-key': ADMIN_KEY } })).text()) !== '[]\n');
  process.kill(-(terminal.child.pid as number), 'SIGTERM');
  await terminal.exit();
});

/** Return the shell blocks of the tutorial, for this service and a port of the test. */
async function blocksOfTutorial(port: number) {
  return (await blocksOf('docs/tutorial.md')).map((block) =>
    block
      .replaceAll('http://127.0.0.1:8080', service.url)
      .replaceAll('3000', String(port))
      .replaceAll('npx yardmaster', `node ${root}apps/cli/bin/yardmaster.mjs`),
  );
}

/** Wait until a block that keeps running in its own terminal is ready for the next ones. */
async function ready(run: ProcessRun, block: string, port: number) {
  if (block.includes('watch')) return run.shows('init');
  await until(() =>
    fetch(`http://127.0.0.1:${port}`).then(
      () => true,
      () => false,
    ),
  );
}

it('every block of the tutorial works when it is pasted into a new terminal', async () => {
  const port = await freePort();
  const [start, ...blocks] = await blocksOfTutorial(port);
  expect(start).toBe('npm start\n');

  const open: ProcessRun[] = [];
  let shown = '';
  for (const block of blocks) {
    const run = runCommand('bash', ['--norc', '-c', block], { HOME: dir });
    if (/watch \$JOB|createServer/.test(block)) {
      await ready(run, block, port);
      open.push(run);
      continue;
    }
    const code = await run.exit();
    shown += run.out();
    expect({ block, code, err: run.err() }).toMatchObject({ code: block.includes('--timeout') ? 124 : 0 });
  }

  const [watch, receiver] = open as [ProcessRun, ProcessRun];
  expect(await watch.exit()).toBe(0);
  const codes = [...shown.matchAll(/"code":"(\w+)"/g)].map(([, code]) => code);
  expect(codes).toEqual(['JOB_NOT_RUNNING', 'JOB_KILLED']);
  for (const part of ['"checkpoint":{"rows":128}', 'no color profile', '"result":{"bytes":51234}'])
    expect(shown).toContain(part);
  // Once when the job ends, and once for the redelivery.
  await until(() => receiver.out().split('"spaceId":"tour","name":"crop","status":"completed"').length === 3);
  receiver.child.kill();
  await receiver.exit();
});
