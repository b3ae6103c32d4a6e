// A copy of the repository whose sources hold all mutants, one of which at most is switched on.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { transformSync } from '@swc/core';
import { root } from '../../scripts/set-up.mjs';

const COMPILER = { jsc: { target: 'es2023', parser: { syntax: 'typescript' } }, module: { type: 'es6' } };

/** Loaded first by each changed source: says which mutant is switched on, and writes down which were reached. */
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

/** Make a copy of what is committed, with these sources in it. */
export function makeLane(number, files) {
  const path = join(root, '.cache/mutation', `lane-${number}`);
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
  const write = (name, text) => writeFileSync(`${state}${name}`, text);

  /** @returns whether all pass; false also when they take longer than `limitMs` */
  async function test(testFiles, limitMs) {
    write('order', JSON.stringify(testFiles));
    const began = performance.now();
    const jest = ['--experimental-vm-modules', 'node_modules/jest/bin/jest.js', '--maxWorkers=1', '--forceExit'];
    const options = ['--bail', '--testTimeout=60000', `--testSequencer=${state}sequencer.mjs`, '--reporters=default'];
    const child = spawn(process.execPath, [...jest, ...options, '--runTestsByPath', ...testFiles], {
      cwd: path,
      env: { ...process.env, TEST_PATIENCE_SECONDS: '20' },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
    const limit = setTimeout(() => child.kill(), limitMs);
    const [code] = await once(child, 'exit');
    clearTimeout(limit);
    const failed = /^FAIL (\S+)/m.exec(output)?.[1] ?? (code === 0 ? null : 'no end in time');
    return { failed, ms: Math.round(performance.now() - began), output };
  }

  return {
    /** Run a test file with no mutant. @returns the ids of the mutants that it reaches, how long it took, and whether it passed */
    async reach(testFile) {
      write('active', '');
      write('reached', '');
      const { failed, ms, output } = await test([testFile], 600_000);
      const ids = [...new Set(readFileSync(`${state}reached`, 'utf8').split('\n').filter(Boolean))];
      return { file: testFile, ids, ms, isGood: failed === null, output };
    },
    /** Run test files with a mutant, until one fails. @returns the file that failed, null if none did */
    async kill(id, testFiles, limitMs) {
      write('active', id);
      return (await test(testFiles, limitMs)).failed;
    },
  };
}
