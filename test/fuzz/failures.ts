import { mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Lane } from './lane.js';
import type { FuzzRequest } from './request.js';
import { shrunk } from './shrink.js';
import type { Verdict } from './trial.js';

const FOLDER = fileURLToPath(new URL('../../.cache/fuzz/', import.meta.url));

/** So much of a request is shown. */
const SHOWN_BYTES = 1_500;

const shown = (raw: Buffer) =>
  JSON.stringify(raw.toString('latin1', 0, SHOWN_BYTES)) + (raw.length > SHOWN_BYTES ? ` … (${raw.length} bytes)` : '');

/** What a complaint is about, without what differs from one request to the next. */
const kindOf = (complaint: string | undefined) => complaint?.slice(0, 24);

async function smallest({ request, complaints }: Verdict, lane: Lane): Promise<Verdict | null> {
  let last: Verdict | null = null;
  const fails = async (candidate: FuzzRequest) => {
    const [verdict] = await lane.send([candidate]);
    const isSame = kindOf(verdict?.complaints[0]) === kindOf(complaints[0]);
    if (isSame) last = verdict ?? null;
    return isSame;
  };
  await shrunk(request, fails);
  return last;
}

/** Tell of a request that failed, in a way that it can be sent again; its bytes go to a file. */
export async function failureText(
  verdict: Verdict,
  lane: Lane,
  { seed, index }: { seed: number; index: number },
): Promise<string> {
  mkdirSync(FOLDER, { recursive: true });
  const file = `${FOLDER}${seed}-${index}.http`;
  writeFileSync(file, verdict.raw);
  const { request, complaints, raw } = verdict;
  const less = await smallest(verdict, lane);
  return [
    `FAILED ${request.name} (${request.oddity}; ${request.framing.name}; job ${request.place})`,
    ...complaints.map((complaint) => `  ${complaint}`),
    `  again: npm run test:fuzz -- --seed ${seed} --from ${index} --requests 1`,
    `  bytes: .cache/fuzz/${seed}-${index}.http ${shown(raw)}`,
    ...(verdict.before === null ? [] : [`  after: ${shown(verdict.before)}`]),
    ...(less === null
      ? []
      : [`  smaller: ${shown(less.raw)}`, ...less.complaints.map((complaint) => `    ${complaint}`)]),
  ].join('\n');
}
