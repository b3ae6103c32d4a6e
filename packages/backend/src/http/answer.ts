import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { YardmasterError } from '@yardmaster/protocol';
import { discard } from './discard.js';

/** Headers of every answer: it is somebody's data, and nothing but JSON. */
export const COMMON: OutgoingHttpHeaders = {
  'content-type': 'application/json; charset=utf-8',
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
};

/** Write a whole answer. Express' own `res.json` would look up settings and hash the body for each. */
export function sendJson(res: ServerResponse, status: number, value: unknown, headers: OutgoingHttpHeaders = {}): void {
  const text = JSON.stringify(value);
  sendText(res, status, { text, bytes: Buffer.byteLength(text), headers });
}

/** A body of JSON, and its size. */
export interface JsonText {
  text: string;
  bytes: number;
  headers?: OutgoingHttpHeaders;
}

/** The same for a body that is written as JSON already. */
export function sendText(res: ServerResponse, status: number, { text, bytes, headers = {} }: JsonText): void {
  if (!res.req.complete) discard(res.req);
  res.writeHead(status, { ...COMMON, ...headers, 'content-length': bytes });
  res.end(text);
}

/** Write an answer without a body. */
export function sendEmpty(res: ServerResponse, headers: OutgoingHttpHeaders): void {
  if (!res.req.complete) discard(res.req);
  res.writeHead(204, headers).end();
}

/** Body of an error answer. */
export function errorBody(error: YardmasterError): Record<string, unknown> {
  return { error: error.message, code: error.code, ...error.extras };
}

/** Headers that go with an error: when to come again, where that may help. */
export function headersOf({ status }: YardmasterError): OutgoingHttpHeaders {
  return status === 503 || status === 429 ? { 'retry-after': '1' } : {};
}

/** Answer with an error of the catalogue. */
export function sendError(res: ServerResponse, error: YardmasterError, headers: OutgoingHttpHeaders = {}): void {
  sendJson(res, error.status, errorBody(error), { ...headersOf(error), ...headers });
}

/** What is answered for anything that is no YardmasterError: a bug, told apart from its kin by the request id only. */
export function internalError(requestId: string): YardmasterError {
  return new YardmasterError('INTERNAL', `Internal error (request ${requestId})`);
}
