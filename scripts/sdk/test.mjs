// npm run test:sdk [-- --language Go]
//
// Check the SDKs as their ecosystems do: format, lint, types, their own tests, and the package as users install it, with
// the programs of README and docs.
// TypeScript needs nothing else, because npm run check lints and compiles it; Python needs venv, and Go needs Go.
import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { delimiter } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { pythonCommands } from '../python.mjs';
import { setUp } from '../set-up.mjs';

const path = (relative) => fileURLToPath(new URL(`../../${relative}`, import.meta.url));
const STATICCHECK = 'honnef.co/go/tools/cmd/staticcheck@v0.8.2';

/** Return the folder of the commands of Python that check and play its SDK. */
export const python = () => pythonCommands(path('.cache/sdk/python/'), path('scripts/sdk/requirements.txt'));

/** Build the program that the scenarios drive. */
export const BUILD_GO_DRIVER = ['go', ['build', '-o', path('.cache/sdk/go-driver'), './conformance']];

/** Commands by language. Each runs in the folder of its SDK. */
const CHECKS = {
  TypeScript: () => [['npm', ['test', '--silent']]],
  Python() {
    const bin = python();
    return [
      [`${bin}python`, ['-m', 'pip', 'install', '--quiet', '--no-deps', '--no-build-isolation', '--editable', '.']],
      [`${bin}ruff`, ['format', '--check', '.']],
      [`${bin}ruff`, ['check', '.']],
      [`${bin}mypy`, []],
      [`${bin}pyright`, ['--pythonpath', `${bin}python`]],
      [`${bin}python`, ['-m', 'pytest', '-q']],
      example('thumbnails'),
    ];
  },
  Go: () => [
    ['gofmt', ['-l', '.'], { isQuiet: true }],
    ['go', ['vet', './...']],
    ['go', ['install', STATICCHECK]],
    ['staticcheck', ['./...']],
    ['go', ['test', './...']],
    example('archive'),
  ],
};

/** The example in a language that `npm test` does not need. */
const example = (name) => {
  const jest = [path('scripts/test.mjs'), '--config', path('test/examples/jest.config.mjs'), name];
  return [process.execPath, jest];
};

/** The programs of README and docs, in an empty folder. */
const quickStart = (language) => [process.execPath, [path('scripts/sdk/quick-start.mjs'), language]];

/** Run a command. @returns whether it succeeded; with isQuiet, whether it also printed nothing */
function run([command, args, { isQuiet = false } = {}], cwd) {
  process.stdout.write(`$ ${command.split('/').at(-1)} ${args.join(' ')}\n`);
  const env = {
    ...process.env,
    GOBIN: path('.cache/sdk/bin'),
    PATH: `${path('.cache/sdk/bin')}${delimiter}${process.env.PATH}`,
    YARDMASTER_PYTHON: path('.cache/sdk/python/bin/python'), // for the example
  };
  const { status, stdout } = spawnSync(command, args, { cwd, env, stdio: ['ignore', 'pipe', 'inherit'] });
  if (stdout !== null) process.stdout.write(stdout);
  return status === 0 && !(isQuiet && stdout.length > 0);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { language } = parseArgs({
    options: { language: { type: 'string', multiple: true, default: Object.keys(CHECKS) } },
  }).values;
  setUp();
  mkdirSync(path('.cache/sdk'), { recursive: true });
  let failed = 0;
  for (const each of language) {
    process.stdout.write(`== ${each}\n`);
    for (const check of [...CHECKS[each](), quickStart(each)])
      if (!run(check, path(`sdk/${each.toLowerCase()}`))) failed++;
  }
  process.stdout.write(failed === 0 ? 'all passed\n' : `${failed} failed\n`);
  process.exitCode = failed === 0 ? 0 : 1;
}
