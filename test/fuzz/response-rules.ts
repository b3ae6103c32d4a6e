import { ERRORS, type ErrorCode } from '@yardmaster/protocol';
import type { RawResponse } from '../support/raw-client.js';
import { parsed } from './json-text.js';
import type { Outcome } from './read-value.js';

const HEADERS =
  /^(content-type|content-length|cache-control|x-content-type-options|x-request-id|date|connection|keep-alive|allow|retry-after|x-ignored-fields|idempotent-replayed|x-next-cursor|link)$/;

/** Internal details, which no response may contain. */
const INTERNAL =
  /node_modules|node:|\.(js|ts|lua|mjs)\b|\bat \w[\w.]* \(|redis|\blua\b|\bzod\b|ERR_|HPE_|WRONGTYPE|NOSCRIPT|EVALSHA|Error:|Unexpected token|in JSON at|Invalid (input|option|key|type|string)|expected .*received|Too (big|small):|incorrect header|unexpected end|\[object \w|\bundefined\b|\/(tmp|home|app|usr)\//i;

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Return whether a response reports an overloaded service. */
export const isOverload = ({ status, text }: RawResponse) => status === 503 && /"error":"Too many/.test(text);

type Rule = [isMet: boolean, complaint: string];

function headRules({ status, headers }: RawResponse): Rule[] {
  const { 'x-request-id': id = '', 'content-type': type = '' } = headers;
  return [
    ...Object.keys(headers).map((name): Rule => [HEADERS.test(name), `an odd header: ${name}`]),
    [UUID.test(id), `x-request-id ${id}`],
    [status === 204 || type === 'application/json; charset=utf-8', `content-type ${type}`],
    [status !== 405 || headers.allow !== undefined, '405 without Allow'],
    [status !== 503 || headers['retry-after'] !== undefined, '503 without Retry-After'],
  ];
}

interface Detail {
  path: string;
  message: string;
}

interface ErrorBody {
  error?: unknown;
  code?: unknown;
  jobStatus?: unknown;
  details?: Detail[];
}

const errorBodyOf = (text: string): ErrorBody => Object(parsed(text)?.value);

function errorRules(status: number, body: ErrorBody): Rule[] {
  const { error, code, jobStatus, details } = body;
  const isListed = ERRORS[code as ErrorCode]?.status === status || (status === 431 && code === 'INVALID_REQUEST');
  const names = ({ path, message }: Detail) =>
    [path, `unknown field ${path}`, `unknown query parameter ${path}`].some((start) => message.startsWith(start));
  const areDetails = details?.every(names) && details[0]?.message === error;
  // A single fault of a list is in the details, too.
  const fewest = details?.[0]?.path.startsWith('[') ? 1 : 2;
  return [
    [typeof error === 'string' && error.length > 0 && error.length < 2_000, `error ${error}`],
    [isListed, `${code} with ${status}`],
    [/^(error|code|details|jobStatus|jobId|,)+$/.test(`${Object.keys(body)}`), `fields ${Object.keys(body)}`],
    [(status === 409) === (typeof jobStatus === 'string'), 'jobStatus must appear with 409 and only there'],
    [details === undefined || (areDetails === true && details.length >= fewest && details.length <= 20), 'odd details'],
  ];
}

/**
 * Find what is wrong with a response, independent of the request.
 *
 * @param sent the request, because the response may repeat its words in the name of a field
 */
export function responseComplaints(response: RawResponse, method: string, sent: string): string[] {
  const { status, text, headers } = response;
  const rules = headRules(response);
  rules.push([status < 500 || isOverload(response), `status ${status}`]);
  rules.push([status !== 408, 'it waited for more, although the whole request or its end was sent']);
  if (status >= 400 && method !== 'HEAD') {
    const leak = INTERNAL.exec(`${Object.values(headers)}\n${text}`)?.[0];
    rules.push([leak === undefined || sent.includes(leak), `it shows an internal detail: ${leak}`]);
    rules.push(...errorRules(status, errorBodyOf(text)));
  }
  return rules.filter(([isMet]) => !isMet).map(([, complaint]) => complaint);
}

/** Return whether a response has the expected status and code, and a message that begins with the invalid part. */
export function isWanted({ status, text }: RawResponse, method: string, wanted: Outcome): boolean {
  if (status !== wanted.status || method === 'HEAD' || wanted.code === null) return status === wanted.status;
  const { error, code } = errorBodyOf(text);
  const begins = (name: string) =>
    `${error}`.startsWith(name.slice(0, 100)) && !/^\w/.test(`${error}`.slice(name.length));
  return code === wanted.code && (wanted.at.length === 0 || wanted.at.some(begins));
}
