import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createApi } from '@yardmaster/api';
import { createJob } from '../support/jobs.js';
import { startService, type TestService } from '../support/service.js';
import { type Random, randomOf } from './random.js';

// A batch is taken apart by its brackets before its entries are parsed. Whatever comes, it must be read as JSON.parse
// reads it, or refused where that refuses it.

let service: TestService;
let jobId: string;
beforeAll(async () => {
  service = await startService({}, { app: createApi });
  jobId = (await createJob(service, 'grammar')).id;
});
afterAll(() => service.stop());

const TOKENS = ['"a"', '"b"', '"\\""', '"[{,"', '"\\\\"', '{"message":"m"}', '{"message":"}"}', '"é🚂"', ' ', '\n'];
const JOINTS = [',', ',', ',', ',,', ':', '[', ']', '{', '}', '"', '\\', '1', 'tru', '"logs"', ''];

/** Entries with something between them, most of it commas; in brackets, most of them right. */
function bodyOf(random: Random): string {
  const entries: string[] = [];
  for (let left = random.below(5); left >= 0; left--) {
    entries.push(random.chance(0.9) ? random.of(TOKENS) : random.of(JOINTS));
    if (left > 0) entries.push(random.chance(0.85) ? ',' : random.of(JOINTS));
  }
  const list = `[${entries.join('')}${random.chance(0.9) ? ']' : random.of(JOINTS)}`;
  if (random.chance(0.5)) return `${random.of(['', ' '])}${list}${random.chance(0.9) ? '' : random.of(JOINTS)}`;
  const other = random.of(['', '', '"x":[{}],', '"x":"]}",', '"logz":["no"],', '"x":nonsense,', '"x",', ',']);
  const key = random.chance(0.9) ? '"logs"' : random.of(['"l\\u006fgs"', 'logs', '"Logs"', '""']);
  return `{${other}${key}:${list}${random.chance(0.9) ? '}' : random.of(JOINTS)}`;
}

/** The messages that a batch has; null when it is none. */
function messagesOf(body: string): string[] | null {
  try {
    const value = JSON.parse(body);
    const list = Array.isArray(value) ? value : value.logs;
    const messages = list.map((entry: string | { message: string }) =>
      typeof entry === 'string' ? entry : entry.message,
    );
    return messages.length > 0 && messages.every((message: unknown) => typeof message === 'string') ? messages : null;
  } catch {
    return null;
  }
}

it('reads every batch as JSON is read, or refuses it', async () => {
  const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 1e9));
  const random = randomOf(seed);
  let taken = 0;
  for (let n = 0; n < 2_000; n++) {
    const raw = bodyOf(random);
    const { status, body } = await service.call('POST', `/jobs/${jobId}/logs`, { raw });
    const expected = messagesOf(raw);
    expect({ seed, raw, status }).toEqual({ seed, raw, status: expected === null ? 400 : 200 });
    if (expected === null) continue;
    taken++;
    const page = (await service.call('GET', `/jobs/${jobId}/logs?after=${body.fromSeq - 1}`)).body;
    expect({ seed, raw, stored: page.logs.map(({ message }: { message: string }) => message) }).toEqual({
      seed,
      raw,
      stored: expected,
    });
  }
  // Both happen, or the test tells nothing.
  expect(taken).toBeGreaterThan(200);
  expect(taken).toBeLessThan(1_800);
});
