// node scripts/sdk/quick-start.mjs <language>
//
// Follow the quick start of an SDK: in an empty folder, install the package, paste the first program of its README, and run it
// against a service. It must complete a job. Then other programs of the README must requeue a dead job and list a schedule, and
// the producer of docs/producers.md must get its result from the worker of docs/workers.md. Prints the number of lines of the first
// program, and how long it took.
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { API_KEY, startService, until } from '../../sdk/conformance/service.mjs';

const path = (relative) => fileURLToPath(new URL(`../../${relative}`, import.meta.url));
const [language] = process.argv.slice(2);
const sdk = path(`sdk/${language.toLowerCase()}/`);
const SPACE = 'demo';
const GO_MODULE = 'github.com/yardmaster/yardmaster/sdk/go';
const folder = mkdtempSync(join(tmpdir(), 'yardmaster-quick-start-'));
const packing = mkdtempSync(join(tmpdir(), 'yardmaster-pack-'));

const run = (command, args, cwd = folder) =>
  execFileSync(command, args, { cwd, stdio: ['ignore', 'ignore', 'inherit'] });

/** By language: `pack` builds the package, `install` adds it to the folder, `command` writes a program there. */
const LANGUAGES = {
  TypeScript: {
    block: 'js',
    pack: () => run('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', packing], sdk),
    install(packed) {
      run('npm', ['init', '-y']);
      run('npm', ['install', '--silent', packed]);
    },
    command(name, program) {
      writeFileSync(join(folder, `${name}.mjs`), program);
      return [process.execPath, [`${name}.mjs`]];
    },
  },
  Python: {
    block: 'python',
    pack() {
      const build = ['-m', 'build', '--no-isolation', '--outdir', packing]; // The wheel is built from the sdist.
      run(path('.cache/sdk/python/bin/python'), build, sdk);
    },
    install(packed) {
      run('python3', ['-m', 'venv', '.venv']);
      run('.venv/bin/pip', ['install', '--quiet', '--disable-pip-version-check', packed]);
    },
    command(name, program) {
      writeFileSync(join(folder, `${name}.py`), program);
      return ['.venv/bin/python', [`${name}.py`]];
    },
  },
  Go: {
    block: 'go',
    pack: () => undefined, // The folder is the package.
    install() {
      run('go', ['mod', 'init', 'example']);
      run('go', ['mod', 'edit', `-replace=${GO_MODULE}=${sdk}`]);
    },
    command(name, program) {
      mkdirSync(join(folder, name));
      writeFileSync(join(folder, name, 'main.go'), program);
      run('go', ['mod', 'tidy']);
      run('go', ['build', '-o', `./${name}/program`, `./${name}`]);
      return [`./${name}/program`, []];
    },
  },
};
const { block, pack, install, command } = LANGUAGES[language];

/** Return the first program of a page in the language, or the first below a heading. */
function programOf(page, heading = '') {
  const text = readFileSync(page, 'utf8');
  const below = text.slice(text.indexOf(heading));
  const [, program] = new RegExp(`^\`\`\`${block}\\n(.*?)^\`\`\`$`, 'ms').exec(below) ?? [];
  if (program === undefined) throw new Error(`${page} has no program in ${block}`);
  return program;
}

const service = await startService('redis');
const env = { ...process.env, YARDMASTER_URL: service.url, YARDMASTER_API_KEY: API_KEY, YARDMASTER_SPACE: SPACE };
const children = [];

function start([program, args], stdout = 'inherit') {
  const child = spawn(program, args, { cwd: folder, env, stdio: ['ignore', stdout, 'inherit'] });
  children.push(child);
  return child;
}

const ended = (child) => new Promise((resolve) => child.on('close', (code, signal) => resolve(code ?? signal)));

/** Run a program, which must succeed and print all of these. */
async function mustPrint(name, program, expected) {
  const child = start(command(name, program), 'pipe');
  let output = '';
  child.stdout.on('data', (chunk) => (output += chunk));
  const code = await ended(child);
  if (code !== 0 || !expected.every((each) => output.match(each)))
    throw new Error(`the program ${name} ended with ${code}: ${output}`);
}

/** Create a dead job. @returns its ID */
async function makeDeadJob() {
  const payload = { image: 'cat.png', width: 320 };
  const { id } = await service.call('POST', `/spaces/${SPACE}/jobs`, { name: 'resize', payload });
  await service.call('POST', `/jobs/${id}/claim`);
  await service.call('POST', `/jobs/${id}/ack`);
  await service.call('POST', `/jobs/${id}/fail`, { error: 'out of memory', retryable: false });
  return id;
}

try {
  pack();
  const began = performance.now();
  install(join(packing, readdirSync(packing).find((file) => /\.(tgz|whl)$/.test(file)) ?? ''));
  const program = programOf(`${sdk}README.md`);
  const first = start(command('first', program));
  const firstEnded = ended(first);
  const payload = { image: 'cat.png', width: 320 };
  const { id } = await service.call('POST', `/spaces/${SPACE}/jobs`, { name: 'resize', payload });
  await until(async () => (await service.call('GET', `/jobs/${id}`)).status === 'completed', 'the job is completed');
  const lines = program.split('\n').filter((line) => line.trim() !== '').length;
  const seconds = ((performance.now() - began) / 1_000).toFixed(1);
  process.stdout.write(`${language}: a job completed after ${seconds} s, with ${lines} lines\n`);
  first.kill();
  await firstEnded; // A running worker may claim the next job.

  const dead = await makeDeadJob();
  await mustPrint('manage', programOf(`${sdk}README.md`, '## Find and change jobs'), [dead, /requeued: 1\b/]);
  await mustPrint('schedule', programOf(`${sdk}README.md`, '## Run jobs on a schedule'), [/nightly-report \d{4}-/]);

  start(command('worker', programOf(path('docs/workers.md'))));
  await mustPrint('producer', programOf(path('docs/producers.md')), [/320/]);
} finally {
  for (const child of children) child.kill();
  await service.stop();
  for (const each of [packing, folder]) rmSync(each, { recursive: true, force: true });
}
