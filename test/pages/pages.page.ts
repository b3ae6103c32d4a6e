import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { findRedisServer } from '@yardmaster/redis';
import { transformSync } from 'esbuild';
import { installed } from '../support/installed.js';
import { until } from '../support/until.js';
import { type Block, blocksOf, PAGES, ROOT } from './blocks.js';
import { openTerminal, startMachine, type Terminal } from './terminal.js';

// Each page is followed from top to bottom on a machine of its own: in one terminal, except for what a reader starts in
// another one. Every command must succeed; a call that is refused fails, because ~/.curlrc says so.

for (const [program, debianPackage] of Object.entries({ curl: 'curl', jq: 'jq', ip: 'iproute2', script: 'bsdutils' }))
  installed(program, debianPackage);

/** Blocks that need more than a clone, by what they call, and the suite that runs them. */
const ELSEWHERE = /\b(kubectl|helm|docker|cosign|sudo|systemctl|chronyc|npm ci|npm install)\b/;

/** Pages of which other suites run every command. */
const PAGES_ELSEWHERE = [
  'docs/backup.md', // resilience: damages and restores the data of a Redis
  'docs/performance/lab-book.md', // benches, minutes each
];

/** What the reader of a page has done before, as it says. */
const BEFORE: Record<string, string> = {
  'docs/redis.md':
    "redis-cli ACL SETUSER yardmaster on '>password' '~*' '&*' +@all; REVOKED_KEY=$(npx yardmaster keys create --name old --scope jobs:read --space demo)",
  'docs/troubleshooting.md':
    'LEAKED_KEY=$(npx yardmaster keys create --name leaked --scope jobs:read --space demo) OLD_SECRET=whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw; mkdir -p /etc/yardmaster',
};

/** Commands that fail, as their page says: the page, and a part of the command or of its exit code. */
const REFUSED: [page: string, failure: string][] = [
  ['docs/api/requests.md', 'timeoutSecond"'], // The page shows this refusal.
  ['docs/redis.md', 'CLUSTER FAILOVER'], // This Redis is no cluster.
  ['docs/troubleshooting.md', 'requeue "$JOB"'], // This job is not dead,
  ['docs/troubleshooting.md', 'callback/redeliver'], // and has no callback.
];

/** Commands that start the service. */
const STARTS = /^(?:[A-Z_]+=\S+ )*(?:npm start|npx yardmaster dev\b.*)(?: &)?$/m;
/** Commands that continue until a reader stops them. */
const CONTINUES = /(npm start|wscat\b.*|curl -N .*|redis-cli --latency|npm run topology|watch "?\$JOB"?|--follow.*|\}\)\.listen\(\d+\)')\n$/;
/** Programs that continue. */
const SERVES = /\.run\(|[Ww]orker\.Run\(|\.listen\(|for \(;;\)|; ; \)/;
/** Blocks that wait for the result of a job, for which a worker must run. */
const AWAITS = /\.result\(|Result\(|\.watch\(|--wait \d{2}/;

/** Prepare a machine for a reader. */
async function prepare() {
  const home = mkdtempSync(join(tmpdir(), 'yardmaster-page-'));
  writeFileSync(join(home, '.curlrc'), 'fail-with-body\nshow-error\n');
  await installRedis(join(home, 'bin'));
  const machine = await startMachine(ROOT, home);
  const env = {
    PATH: `${ROOT}.cache/sdk/python/bin:${process.env.PATH}:${home}/bin`,
    GOPROXY: 'off',
    GOCACHE: join(ROOT, '.cache/go-build'),
    npm_config_progress: 'false',
  };
  const open: Terminal[] = [];
  return {
    write: machine.write,
    terminal() {
      const one = openTerminal(machine, env);
      open.push(one);
      return one;
    },
    async stop() {
      await Promise.all(open.map((terminal) => terminal.close()));
      await machine.stop();
      rmSync(home, { recursive: true, maxRetries: 10 });
    },
  };
}

/** Put a redis-server and the redis-cli beside it into a folder. */
async function installRedis(folder: string) {
  const { command, args } = await findRedisServer(join(ROOT, '.cache/redis'), () => undefined);
  const server = [command, ...args].join(' ');
  mkdirSync(folder);
  for (const name of ['redis-server', 'redis-cli'])
    writeFileSync(join(folder, name), `#!/bin/sh\nexec ${server.replace(/redis-server$/, name)} "$@"\n`, { mode: 0o755 });
}

type Reader = Awaited<ReturnType<typeof prepare>>;

/** Write a program to a file, and return the command that runs it; null for a part of a program, which only compiles. */
function commandOf({ at, language, code }: Block, write: Reader['write']): string | null {
  const name = `program-${at.split(':')[1]}`;
  switch (language) {
    case 'js':
    case 'ts':
      if (!/^import /m.test(code)) return null;
      write(`${name}.mjs`, language === 'js' ? code : stripTypes(code));
      return `node ${name}.mjs`;
    case 'python':
      write(`${name}.py`, code);
      return `python ${name}.py`;
    case 'go':
      if (!code.startsWith('package main')) return null;
      write(`${name}/main.go`, code);
      write(`${name}/go.mod`, GO_MOD);
      return `(cd ${name} && go run .)`;
    default:
      return null;
  }
}

const GO_MODULE = 'github.com/yardmaster/yardmaster/sdk/go';
const GO_MOD = `module example\ngo 1.23\nrequire ${GO_MODULE} v0.0.0\nreplace ${GO_MODULE} => ../sdk/go\n`;

const stripTypes = (code: string) => transformSync(code, { loader: 'ts', format: 'esm' }).code;

/** Follow a page. @returns what failed, each with its place and what the terminal showed */
async function follow(page: string, { terminal, write }: Reader): Promise<string[]> {
  const failed: string[] = [];
  const main = terminal();
  let service: Terminal | null = null;
  let left: { at: string; other: Terminal }[] = [];

  function report(at: string, failures: string[], { screen }: Terminal) {
    const isExpected = (failure: string) => REFUSED.some(([where, what]) => where === page && failure.includes(what));
    const unexpected = failures.filter((failure) => !isExpected(failure));
    if (unexpected.length > 0) failed.push(`${at}: ${unexpected.join('\n')}\nThe terminal shows:\n${screen().slice(-1_500)}`);
  }

  /** Start the service, or start it again with other settings. */
  async function serve(at: string, code: string) {
    const variables = await main.variables();
    await service?.interrupt();
    const own = terminal();
    own.start(`. ${variables}\n${code}`);
    await until(() => own.isIdle() || /is ready|"msg":"ready"/.test(own.screen())).catch(() => failed.push(`${at} is not ready:\n${own.screen()}`));
    report(at, own.failures(), own);
    service = own;
  }

  /** Run something in another terminal, until it has ended or has a connection. */
  async function leave(at: string, code: string) {
    const other = terminal();
    other.start(`. ${await main.variables()}\n${code}`);
    left.push({ at, other });
    await until(() => other.isIdle() || other.hasSocket());
    return other;
  }

  /** Stop what was left, once that which ends has ended. */
  async function stopLeft() {
    for (const { at, other } of left) {
      await other.interrupt().catch(() => failed.push(`${at} does not stop:\n${other.screen()}`));
      report(at, other.failures().filter((failure) => !failure.includes('exit 130')), other);
    }
    left = [];
  }

  const blocks = blocksOf(page).filter(({ code }) => !ELSEWHERE.test(code));
  const hasRedis = blocks.some(({ language, code }) => language === 'sh' && /redis-cli|:6379/.test(code));
  if (hasRedis) {
    write('.data/redis.conf', 'dir .data\nappendonly yes\n');
    await leave('redis-server', 'redis-server .data/redis.conf');
  }
  if (!STARTS.test(blocks.find(({ language }) => language === 'sh')?.code ?? '')) await serve('npm start', hasRedis ? 'REDIS_URL=redis://127.0.0.1:6379 npm start\n' : 'npm start\n');
  const before = 'export YARDMASTER_URL=http://127.0.0.1:8080 YARDMASTER_API_KEY=$(cat .data/admin-key)\n';
  if (BEFORE[page]) report('before', await main.paste(`${before}${BEFORE[page]}\nunset YARDMASTER_URL YARDMASTER_API_KEY\n`), main);
  for (const block of blocks) {
    const { at, language, code, isChoice } = block;
    const isShell = language === 'sh';
    const command = isShell ? code : commandOf(block, write);
    if (command === null) continue;
    if (isShell && STARTS.test(code)) {
      await serve(at, code);
      continue;
    }
    const isLeft = isShell ? CONTINUES.test(code) : SERVES.test(code);
    const worker = AWAITS.test(code) && !isLeft ? await leave('examples/worker.mjs', 'node examples/worker.mjs') : null;
    if (isLeft) await leave(at, command);
    else report(at, await main.paste(command), main);
    if (/unbound variable|syntax error/.test(main.screen())) failed.push(`${at}: ${main.screen()}`);
    await worker?.interrupt();
    if (isChoice) await stopLeft();
  }
  await stopLeft();
  return failed;
}

it.concurrent.each(PAGES.filter((page) => !PAGES_ELSEWHERE.includes(page)))('%s can be followed as it stands', async (page) => {
  const reader = await prepare();
  try {
    expect((await follow(page, reader)).join('\n\n')).toBe('');
  } finally {
    await reader.stop();
  }
});
