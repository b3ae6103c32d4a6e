import type { Answer, Exchange } from './connection.js';
import { type Expected, expectedOf } from './expected.js';
import { isRecord } from './fault.js';
import { complaintsOf } from './judge.js';
import { READ_BACK } from './read-back.js';
import { bytesOf, type FuzzRequest, type Names } from './request.js';
import { nameOf } from './route-names.js';
import { type FuzzedService, spareKey } from './service.js';

/** A request that is ready to be sent. */
export interface Trial {
  request: FuzzRequest;
  names: Names;
  raw: Buffer;
  expected: Expected;
}

/** What came of it. */
export interface Verdict extends Trial {
  /** Null when the connection was closed without an answer. */
  status: number | null;
  /** The body of the answer, shortened. */
  told: string;
  complaints: string[];
  /** What was sent on the same connection right before. */
  before: Buffer | null;
}

/** Find it a job, or a key, and write it down. */
export async function prepare({ jobs, keys, http }: FuzzedService, request: FuzzRequest): Promise<Trial> {
  const { text } = request.target;
  const jobId = /\{(job|encodedJob)\}/.test(text) ? await jobs.take(request.place) : '';
  const keyId = text.includes('{key}') ? await spareKey(http) : '';
  const names: Names = { jobId, keyId, keys };
  return { request, names, raw: bytesOf(request, names), expected: expectedOf(request) };
}

/** Calls after which a job is still where it was. */
const STAYS = /^GET |\/(progress|checkpoint|event|keepalive|logs|redeliver)$/;

function release({ jobs }: FuzzedService, { request, names }: Trial, status: number | null): void {
  const { place, name, framing, target } = request;
  const isWhere = (status !== null && status >= 400) || STAYS.test(name);
  if (names.jobId !== '' && framing.is === 'whole' && target.is === 'row' && isWhere) jobs.give(place, names.jobId);
}

/** See whether what was taken is there, and equal. */
async function readBackComplaints({ http }: FuzzedService, trial: Trial, answer: Answer): Promise<string[]> {
  const { request, names, expected } = trial;
  const isTaken =
    answer.status < 300 && answer.body.length > 0 && expected.outcomes !== null && expected.route !== null;
  const readBack = isTaken && expected.route ? READ_BACK[nameOf(expected.route)] : undefined;
  if (readBack === undefined) return [];
  const body: unknown = JSON.parse(answer.body.toString());
  if (!isRecord(body)) return ['the answer is no object'];
  const taken = { http, jobId: names.jobId, place: request.place, value: expected.value, answer: body };
  return readBack(taken).catch((error: Error) => [`not to be read back: ${error.message}`]);
}

/** Judge what came for a request, the n-th of an exchange. */
export async function judged(service: FuzzedService, trial: Trial, exchange: Exchange, n: number): Promise<Verdict> {
  const { request, expected } = trial;
  const answer = exchange.answers[n];
  const isCutOff = answer === undefined && exchange.isEnded;
  const complaints = isCutOff ? [] : complaintsOf(request, answer, expected);
  if (exchange.isHung && answer === undefined) complaints.push('neither answered nor closed');
  if (request.framing.is === 'whole' && exchange.rest.length > 0)
    complaints.push(`more than was asked for: ${exchange.rest.toString('latin1', 0, 200)}`);
  if (answer !== undefined && complaints.length === 0)
    complaints.push(...(await readBackComplaints(service, trial, answer)));
  const status = answer?.status ?? null;
  release(service, trial, status);
  return { ...trial, status, told: answer?.body.toString('utf8', 0, 300) ?? '', complaints, before: exchange.before };
}
