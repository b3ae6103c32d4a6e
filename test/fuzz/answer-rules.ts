import { ERRORS, type ErrorCode } from '@yardmaster/protocol';
import type { Answer } from './connection.js';
import { isRecord, type JsonRecord } from './fault.js';

const HEADERS = new Set([
  'content-type',
  'cache-control',
  'x-content-type-options',
  'x-request-id',
  'content-length',
  'date',
  'connection',
  'keep-alive',
  'allow',
  'retry-after',
]);

/** What only a program says, and no service to those who use it. */
const INTERNAL =
  /node_modules|node:|\.(js|ts|lua|mjs)\b|\bat \w[\w.]* \(|redis|\blua\b|\bzod\b|ERR_|HPE_|WRONGTYPE|NOSCRIPT|EVALSHA|Error:|Unexpected token|in JSON at|Invalid (input|option|key|type|string)|expected .*received|Too (big|small):|incorrect header|unexpected end|\[object|\bundefined\b|\/(tmp|home|app|usr)\//i;

/** Refusals of a service that has too much to do, which says so. */
export const isOverload = ({ status, body }: Answer) =>
  status === 503 && /"error":"Too many/.test(body.toString('latin1'));

function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString());
  } catch {
    return undefined;
  }
}

function headerComplaints({ headers, status }: Answer): string[] {
  const values = (name: string) => headers.filter(([each]) => each === name).map(([, value]) => value);
  const strange = headers.filter(([name]) => !HEADERS.has(name)).map(([name]) => `an odd header: ${name}`);
  const type = values('content-type');
  return [
    ...strange,
    ...(values('x-request-id').length === 1 ? [] : ['not one x-request-id']),
    ...(status === 204 || (type.length === 1 && type[0] === 'application/json; charset=utf-8')
      ? []
      : [`content type ${type}`]),
    ...(status === 405 && values('allow').length !== 1 ? ['405 without Allow'] : []),
    ...(status === 503 && values('retry-after').length !== 1 ? ['503 without Retry-After'] : []),
  ];
}

const isDetail = (detail: unknown) =>
  isRecord(detail) &&
  typeof detail.path === 'string' &&
  typeof detail.message === 'string' &&
  detail.message.startsWith(detail.path) &&
  Object.keys(detail).length === 2;

function errorComplaints(status: number, body: JsonRecord): string[] {
  const { error, code, details, jobStatus } = body;
  const known = ERRORS[code as ErrorCode];
  const complaints: string[] = [];
  const claim = (holds: boolean, complaint: string) => holds || complaints.push(complaint);
  claim(typeof error === 'string' && error.length > 0, 'no sentence');
  claim(typeof error === 'string' && error.length < 2_000, 'a sentence without end');
  claim(typeof code === 'string' && Object.hasOwn(ERRORS, code), `code ${code} is not of the catalogue`);
  claim(known?.status === status || (status === 431 && code === 'INVALID_REQUEST'), `${code} with ${status}`);
  claim(
    Object.keys(body).every((field) => ['error', 'code', 'details', 'jobStatus'].includes(field)),
    `fields ${Object.keys(body)}`,
  );
  claim((status === 409) === (typeof jobStatus === 'string'), 'jobStatus is of 409 only, and of each');
  claim(
    details === undefined ||
      (Array.isArray(details) &&
        details.length > 1 &&
        details.length <= 20 &&
        details.every(isDetail) &&
        details[0].message === error),
    'odd details',
  );
  return complaints;
}

/**
 * What must hold of every answer, whatever was asked.
 *
 * @param sent the request: words of its own may come back in the name of a field
 * @returns one sentence for each rule that does not
 */
export function answerComplaints(answer: Answer, method: string, sent: string): string[] {
  const { status, body, headers } = answer;
  const complaints = headerComplaints(answer);
  if (status >= 500 && !isOverload(answer)) complaints.push(`status ${status}`);
  if (status === 408) complaints.push('it waited for more, though all was sent, or the end of it');
  if (status < 400 || method === 'HEAD') return complaints;
  const value = parsed(body);
  if (!isRecord(value)) return [...complaints, 'an error that is no JSON object'];
  complaints.push(...errorComplaints(status, value));
  const told = `${headers.map(([, text]) => text).join('\n')}\n${body.toString()}`;
  const leak = INTERNAL.exec(told)?.[0];
  if (leak !== undefined && !sent.includes(leak)) complaints.push(`it tells of its inside: ${leak}`);
  return complaints;
}
