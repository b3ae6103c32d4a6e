import { answerComplaints, isOverload } from './answer-rules.js';
import type { Answer } from './connection.js';
import type { Expected, Outcome } from './expected.js';
import type { FuzzRequest } from './request.js';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

function idComplaints({ requestId }: FuzzRequest, { headers }: Answer): string[] {
  const told = headers.find(([name]) => name === 'x-request-id')?.[1] ?? '';
  const [[, given] = ['', '']] = requestId;
  const isTaken = requestId.length === 1 && /^[\x21-\x7e]{1,128}$/.test(given);
  return (isTaken ? told === given : UUID.test(told)) ? [] : [`x-request-id ${told}`];
}

const said = (answer: Answer): { error: string; code: string | null } => {
  try {
    const { error, code } = JSON.parse(answer.body.toString());
    return { error: String(error), code: code ?? null };
  } catch {
    return { error: '', code: null };
  }
};

/** A sentence begins with the name of what is wrong, and not with one that only begins like it. */
const begins = (sentence: string, name: string) =>
  sentence.startsWith(name) && !/^\w/.test(sentence.slice(name.length));

function isOne(answer: Answer, method: string, { status, code, at }: Outcome): boolean {
  if (answer.status !== status) return false;
  if (method === 'HEAD' || code === null) return true;
  const told = said(answer);
  return told.code === code && (at.length === 0 || at.some((name) => begins(told.error, name)));
}

const shown = (answer: Answer) => `${answer.status} ${answer.body.toString().slice(0, 300)}`;

/**
 * Compare the answer to a request with what is expected, and with what holds of every answer.
 *
 * @returns one sentence for each thing that is wrong
 */
export function complaintsOf(request: FuzzRequest, answer: Answer | undefined, expected: Expected): string[] {
  const { outcomes, mayClose } = expected;
  if (answer === undefined) return mayClose ? [] : ['closed without an answer'];
  const sent = Buffer.concat([
    request.body?.text?.subarray(0, 2_000_000) ?? Buffer.alloc(0),
    Buffer.from(request.target.text + request.query.text),
  ]);
  const complaints = answerComplaints(answer, request.method, sent.toString());
  if (outcomes === null) return complaints;
  // What is no request has no id, either.
  if (request.framing.is === 'whole') complaints.push(...idComplaints(request, answer));
  if (isOverload(answer)) return complaints;
  if (outcomes.some((outcome) => isOne(answer, request.method, outcome))) return complaints;
  const wanted = outcomes.map(
    ({ status, code, at }) =>
      `${status}${code === null ? '' : ` ${code}`}${at.length > 0 ? ` at ${at.join('|').slice(0, 200)}` : ''}`,
  );
  return [...complaints, `answered ${shown(answer)}; expected ${[...new Set(wanted)].join(' or ')}`];
}
