import { expect, it } from '@jest/globals';
import { installed } from '../support/installed.js';
import { type Block, blocksOf, PAGES } from './blocks.js';
import { programOf } from './programs.js';
import { Reader } from './reader.js';

// Follow each page from top to bottom. Every command must succeed and every program must run. Commands for containers and
// Kubernetes run in the suites `image` and `kubernetes` instead, and commands that install packages in `sdk` and `release`.

for (const [program, debianPackage] of Object.entries({ jq: 'jq', ip: 'iproute2', script: 'bsdutils' }))
  installed(program, debianPackage);

const ELSEWHERE =
  /\b(kubectl|helm|docker|cosign|sudo|systemctl|chronyc|npm (ci|install|audit)|pip install|go get|go mod init)\b/;
/** Pages whose commands run these suites, or benches. */
const OF_DEVELOPERS = /^docs\/(performance|reliability)\/|^docs\/(test-suites|releasing|extending)/;

const KEY = 'npx yardmaster keys create --name old --scope jobs:read --space demo';
/** Commands for what a page takes for granted. */
const BEFORE: Record<string, string> = {
  'sdk/typescript/README.md': 'cp examples/worker.mjs .',
  'docs/backup.md': `REVOKED_KEY=$(${KEY})`,
  'docs/deploy.md': 'mkdir -p /etc/yardmaster; cp .data/admin-key /etc/yardmaster/',
  'docs/redis.md': `REVOKED_KEY=$(${KEY}); redis-cli ACL SETUSER yardmaster on '>password' '~*' '&*' +@all`,
  'docs/troubleshooting.md': `LEAKED_KEY=$(${KEY}); OLD_SECRET=whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw; mkdir -p /etc/yardmaster`,
};
const WITH_KEY = 'YARDMASTER_URL=http://127.0.0.1:8080 YARDMASTER_API_KEY=$(cat .data/admin-key)';

/** Commands that are meant to fail: the page, and part of the command or its exit code. */
const REFUSED: [page: string, failure: string][] = [
  ['docs/api/requests.md', 'timeoutSecond"'], // The page shows this refusal.
  ['docs/backup.md', 'redis-cli ping'], // It must fail once Redis is stopped.
  ['docs/backup.md', 'grep master'], // This Redis is not a cluster.
  ['docs/migrate-emit.md', '$WRITER'], // A writer isn't allowed to poll.
  ['docs/redis.md', 'CLUSTER FAILOVER'], // This Redis is not a cluster.
  ['docs/tutorial.md', 'exit 124'], // watch --timeout
  ['docs/tutorial.md', "$JSON\" -d '{}'"], // a second complete
  ['docs/tutorial.md', 'keepalive'], // of a killed job
  ['docs/troubleshooting.md', 'requeue "$JOB"'], // This job is not dead,
  ['docs/troubleshooting.md', 'callback/redeliver'], // and has no callback.
];

/** Commands that start the service. */
const STARTS = /(?:^|\s)npm start(?: &)?$|npx yardmaster dev\b/m;
/** Commands that run until Ctrl-C. */
const CONTINUES =
  /(wscat\b.*|curl -N .*|redis-cli --latency|npm run topology|watch "?\$JOB"?|--follow.*|\}\)\.listen\(\d+\)'|node examples\/worker.mjs)\n$/;
/** Programs that run until Ctrl-C. */
const SERVES = /\.run\(|client\.watch\(|[Ww]orker\.Run\(|\.listen\(|for \(;;\)|; ; \)/;
/** Code that waits for a job to end, which requires a running worker. */
const AWAITS = /\.result\(|Result\(|\.watch\(|--wait \d{2}/;

const isShell = ({ language }: Block) => language === 'sh';
const startsService = (block: Block) => isShell(block) && STARTS.test(block.code);
const continues = (block: Block) => (isShell(block) ? CONTINUES : SERVES).test(block.code);

/** Start what a page takes for granted, unless its first commands start the service. */
async function begin(page: string, blocks: Block[], reader: Reader) {
  const hasRedis = blocks.some((block) => isShell(block) && /redis-cli|:6379/.test(block.code));
  if (hasRedis) await reader.leave('redis-server', 'mkdir -p /var/lib/redis && redis-server /etc/redis/redis.conf\n');
  const first = blocks.find(isShell);
  if (first && startsService(first)) return;
  await reader.serve('npm start', `${hasRedis ? 'REDIS_URL=redis://127.0.0.1:6379 ' : ''}npm start\n`);
  const before = BEFORE[page]?.replace('npx', `${WITH_KEY} npx`);
  if (before) await reader.type('what it takes for granted', `${before}\n`);
}

/** Run the commands of a block, and leave the last one running in a terminal of its own. */
async function leave(at: string, commands: string, reader: Reader) {
  const [, before = '', last = commands] = /^(.*\n)((?:npx|node|npm|curl|redis-cli) .*\n)$/s.exec(commands) ?? [];
  if (before) await reader.type(at, before);
  await reader.leave(at, last);
}

async function follow(block: Block, reader: Reader) {
  const program = programOf(block);
  if (program === null) return;
  const { at, code, isChoice } = block;
  reader.save(program.files);
  if (startsService(block)) return reader.serve(at, code);
  if (continues(block)) await leave(at, program.command, reader);
  else {
    const worker = AWAITS.test(code) ? await reader.leave('the worker', 'node examples/worker.mjs\n') : null;
    await reader.type(at, program.command);
    await worker?.interrupt();
  }
  if (isChoice) await reader.stopLeft();
}

/** CI follows a tenth of the pages. */
const tenth = Number(process.env.PAGES_TENTH ?? 0);
const pages = PAGES.filter((page) => !OF_DEVELOPERS.test(page)).filter((_, i) => tenth === 0 || i % 10 === tenth - 1);

it.concurrent.each(pages)('%s can be followed as it stands', async (page) => {
  const blocks = blocksOf(page).filter(({ code }) => !ELSEWHERE.test(code.replaceAll(/ # .*/g, '')));
  const reader = await Reader.start(REFUSED.flatMap(([where, part]) => (where === page ? [part] : [])));
  try {
    await begin(page, blocks, reader);
    for (const block of blocks) await follow(block, reader);
    await reader.stopLeft();
    expect(reader.failures.join('\n\n')).toBe('');
  } finally {
    await reader.close();
  }
});
