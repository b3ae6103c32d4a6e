// npm run test:long -- sdk [-- --language Go]
//
// Check the SDKs as their ecosystems do: format, lint, types, their own tests, and the package as users install it, with the
// programs of README and docs. npm run check already lints and compiles TypeScript. Python needs venv, and Go needs Go.
// The languages are checked concurrently, because they often wait: for downloads, and in tests.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { buffer } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { goCommand } from '../go-command.mjs';
import { pythonCommands } from '../python.mjs';
import { JEST, setUp } from '../set-up.mjs';

const path = (relative) => fileURLToPath(new URL(`../../${relative}`, import.meta.url));

/** Return the folder with the Python commands that check and run the SDK. */
export const python = () => pythonCommands(path('.cache/sdk/python/'), path('scripts/sdk/requirements.txt'));

/** Build the program that the conformance scenarios control. */
export const BUILD_GO_DRIVER = ['go', ['build', '-o', path('.cache/sdk/go-driver'), './conformance']];

/** Commands by language. Each runs in the folder of its SDK. */
const CHECKS = {
  TypeScript: () => [['npm', ['test', '--silent']]],
  Python() {
    const bin = python();
    return [
      [`${bin}python`, ['-m', 'pip', 'install', '--quiet', '--no-deps', '--no-build-isolation', '--editable', '.']],
      [`${bin}ruff`, ['format', '--check', '.', path('examples/thumbnails')]],
      [`${bin}ruff`, ['check', '.', path('examples/thumbnails')]],
      [`${bin}mypy`, []],
      [`${bin}pyright`, ['--pythonpath', `${bin}python`]],
      [`${bin}python`, ['-m', 'pytest', '-q']],
      example('thumbnails'),
    ];
  },
  Go: () => [
    ['gofmt', ['-l', '.', path('examples/archive')], { isQuiet: true }],
    ['go', ['vet', './...']],
    ['go', ['-C', path('examples/archive'), 'vet', '.']],
    [goCommand('staticcheck'), ['./...']],
    ['go', ['test', './...']],
    example('archive'),
  ],
};

/** Examples that `npm test` does not run, by language. */
const example = (name) => {
  return [process.execPath, [...JEST, '--config', path('test/examples/jest.config.mjs'), name]];
};

/** Run the programs of README and docs in an empty folder. */
const quickStart = (language) => [process.execPath, [path('scripts/sdk/quick-start.mjs'), language]];

/** Run a command. @returns whether it succeeded and, with isQuiet, printed nothing */
function run([command, args, { isQuiet = false } = {}], cwd) {
  process.stdout.write(`$ ${command.split('/').at(-1)} ${args.join(' ')}\n`);
  const env = {
    ...process.env,
    YARDMASTER_PYTHON: path('.cache/sdk/python/bin/python'), // for the example
  };
  const { status, stdout } = spawnSync(command, args, { cwd, env, stdio: ['ignore', 'pipe', 'inherit'] });
  if (stdout !== null) process.stdout.write(stdout);
  return status === 0 && !(isQuiet && stdout.length > 0);
}

/** Check one SDK. @returns number of failed checks */
function check(language) {
  const checks = [...CHECKS[language](), quickStart(language)];
  return checks.filter((each) => !run(each, path(`sdk/${language.toLowerCase()}`))).length;
}

/** Check one SDK in a separate process, and print its output at the end. @returns its exit code */
async function checkApart(language) {
  const child = spawn(process.execPath, [fileURLToPath(import.meta.url), '--language', language, '--only-check'], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [out, err, [code]] = await Promise.all([buffer(child.stdout), buffer(child.stderr), once(child, 'exit')]);
  process.stdout.write(`== ${language}\n`);
  process.stdout.write(out);
  process.stderr.write(err);
  return code ?? 1;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { values } = parseArgs({
    options: {
      language: { type: 'string', multiple: true, default: Object.keys(CHECKS) },
      'only-check': { type: 'boolean', default: false },
    },
  });
  if (values['only-check']) {
    process.exitCode = check(values.language[0]);
  } else {
    setUp();
    mkdirSync(path('.cache/sdk'), { recursive: true });
    const failed = await Promise.all(values.language.map(checkApart));
    const count = failed.reduce((all, each) => all + each, 0);
    process.stdout.write(count === 0 ? 'all passed\n' : `${count} failed\n`);
    process.exitCode = count === 0 ? 0 : 1;
  }
}
