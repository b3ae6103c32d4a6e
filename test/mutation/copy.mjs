// A copy of the repository that contains every drawn mutant, of which at most one is active.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { transformSync } from '@swc/core';
import { root } from '../../scripts/set-up.mjs';
import '../../scripts/typescript.mjs';

const { killListed, killListedOnExit, killOnExit } = await import('../support/kill-on-exit.ts');

const COMPILER = { jsc: { target: 'es2023', parser: { syntax: 'typescript' } }, module: { type: 'es6' } };

/** Imported first by each changed source: sets which mutant is active, and records which are reached. */
const switches = (folder) => `
import { appendFileSync, readFileSync } from 'node:fs';
const active = readFileSync('${folder}active', 'utf8');
const reached = new Proxy({}, {
  set(seen, id) {
    if (!(id in seen)) appendFileSync('${folder}reached', id + '\\n');
    seen[id] = 1;
    return true;
  },
});
globalThis.__stryker__ ??= {
  activeMutant: active || undefined,
  mutantCoverage: { static: active === '' ? reached : {}, perTest: {} },
};
`;

/** Runs the test files in the order in which they are given. */
const sequencer = (folder) => `
import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';
const { default: Sequencer } = createRequire('${root}package.json')('@jest/test-sequencer');
export default class extends Sequencer {
  sort(tests) {
    const order = JSON.parse(readFileSync('${folder}order', 'utf8'));
    const place = ({ path }) => order.findIndex((file) => path.endsWith(file));
    return [...tests].sort((one, other) => place(one) - place(other));
  }
}
`;

/** Options of Jest and environment, by suite: tests of outages wait longer. */
const ORDINARY = [['--testTimeout=60000'], { TEST_WAIT_SECONDS: '20' }];
const RESILIENCE = [['--config', 'test/resilience/jest.config.mjs'], {}];

/** Whether a test file belongs to npm run test:long -- resilience, and not to npm test. */
export const isOfResilience = (testFile) => testFile.startsWith('test/resilience/');

/** Make a copy of the commit at HEAD, with these sources in it. */
export function makeCopy(number, files) {
  const path = join(root, '.cache/mutation', `copy-${number}`);
  const state = `${path}/.mutation/`;
  rmSync(path, { recursive: true, force: true });
  execFileSync('git', ['clone', '--quiet', root, path]);
  execFileSync('npm', ['run', 'build'], { cwd: path, stdio: 'ignore' });
  mkdirSync(state);
  writeFileSync(`${state}switches.mjs`, switches(state));
  writeFileSync(`${state}sequencer.mjs`, sequencer(state));
  for (const { name, content } of files) {
    const source = `import '${state}switches.mjs';\n${content}`;
    writeFileSync(join(path, name), source);
    const { code } = transformSync(source, COMPILER);
    writeFileSync(join(path, name.replace('/src/', '/dist/').replace(/\.ts$/, '.js')), code);
  }
  const processes = killListedOnExit();
  const write = (name, text) => writeFileSync(`${state}${name}`, text);

  /**
   * @param testFiles all of one suite
   * @returns the first file that failed, 'no end in time' after `limitMs`, or null if all passed; the time; the output
   */
  async function test(testFiles, limitMs) {
    write('order', JSON.stringify(testFiles));
    const began = performance.now();
    const jest = ['--experimental-vm-modules', 'node_modules/jest/bin/jest.js', '--maxWorkers=1', '--forceExit'];
    const options = ['--bail', `--testSequencer=${state}sequencer.mjs`, '--reporters=default'];
    const [suite, env] = isOfResilience(testFiles[0]) ? RESILIENCE : ORDINARY;
    const child = spawn(process.execPath, [...jest, ...suite, ...options, '--runTestsByPath', ...testFiles], {
      cwd: path,
      env: { ...process.env, ...env, TEST_PROCESSES: processes },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true, // A process group, to end all of it.
    });
    const hasEnded = killOnExit({ pid: -child.pid });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
    // A mutant may loop forever, and then only SIGKILL ends it.
    const limit = setTimeout(() => process.kill(-child.pid, 'SIGKILL'), limitMs);
    const [code] = await once(child, 'exit');
    clearTimeout(limit);
    hasEnded();
    killListed(processes);
    const failed = /^FAIL (\S+)/m.exec(output)?.[1] ?? (code === 0 ? null : 'no end in time');
    return { failed, ms: Math.round(performance.now() - began), output };
  }

  return {
    /** Run a test file without a mutant. @returns the ids of the mutants that it reaches, its time, and whether it passed */
    async reach(testFile) {
      write('active', '');
      write('reached', '');
      const { failed, ms, output } = await test([testFile], 600_000);
      const ids = [...new Set(readFileSync(`${state}reached`, 'utf8').split('\n').filter(Boolean))];
      return { file: testFile, ids, ms, isGood: failed === null, output };
    },
    /** Run test files with a mutant until one fails. @returns as `test` does: the file, or null if none failed */
    async kill(id, testFiles, limitMs) {
      write('active', id);
      return (await test(testFiles, limitMs)).failed;
    },
  };
}
