import { setTimeout as delay } from 'node:timers/promises';
import { HttpClient } from '../../test/support/http.js';
import { until } from '../../test/support/until.js';
import type { Body } from '../checker/history.js';
import { lengthOf, type Span } from '../checker/stalls.js';
import type { AppProcess } from '../installation/app-process.js';
import type { Matcher } from '../installation/scripts.js';
import { RESPONSE_MS } from '../rules/responses.js';
import type { FaultContext } from '../runs/fault.js';

/** How a reply is lost: the connection is cut, or stays open without the reply. With `observe`, nothing is lost. */
export type Loss = 'cut' | 'silence' | 'observe';

/** One reply of Redis that a process waits for. */
interface Row {
  endpoint: string; // Operation of an API route, or an action of a gateway.
  runs: string; // Script or command whose reply is lost.
  at: 'api' | 'gateway'; // Process that loses the reply.
}

/** A reply, and a trial in which it is lost. */
export interface LostReply extends Row {
  beside?: string; // Another command, sent with it, whose reply is also lost.
  isLater?: boolean; // Whether its trial runs after the others; rows.ts explains why.
  /** Prepare everything, and intercept the reply. @param n a number that no other trial and no job of the load has */
  begin(
    context: FaultContext,
    n: number,
    loss: Loss,
  ): Promise<{
    send(): Promise<void>; // Cause the request whose reply is lost.
    check(): Promise<void>; // Report faults after the request and after repeating it.
  }>;
}

/** Indexes of the API that loses replies, and of the other API. */
export const LOSING = 0;
export const OTHER = 1;

/** Return the process that loses the replies of a row. */
export const loserOf = ({ installation }: FaultContext, at: LostReply['at']): AppProcess =>
  (at === 'api' ? installation.apis[LOSING] : installation.gateways[0]) as AppProcess;

/** Lose the reply to the next command of a row. @param jobId ID of the trial's job, for violations */
export function loseReply(context: FaultContext, row: Row, jobId: string | null, loss: Loss, to: Matcher) {
  const { proxy } = loserOf(context, row.at);
  const lost = proxy.intercept(to, interceptionOf(loss));
  void lost.happened.then(() => count(context, 'replies lost'));
  /** Report `getJob, history: …` if a condition is false. @param during span of a deadline, as in a violation */
  function must(isTrue: boolean, otherwise: string, during?: Span): void {
    if (!isTrue) context.found(`${row.endpoint}, ${row.runs}: ${otherwise}`, { jobId, ...(during && { during }) });
  }
  const mustBeInTime = (during: Span, limitMs = RESPONSE_MS) =>
    must(lengthOf(during) <= limitMs, `took ${lengthOf(during)} ms`, during);
  /** End the trial. @param says what happened instead, for the violation that no reply was lost */
  const over = (says = '') => {
    lost.cancel();
    must(lost.at !== null, `no reply was lost${says && `: ${says}`}`);
  };
  const wait = () => until(() => lost.at !== null, LOST_MS).catch(() => undefined); // `over` reports it.
  return { must, mustBeInTime, over, wait };
}

const LOST_MS = 30_000; // A gateway checks the keys of open streams more often than this.

export const interceptionOf = (loss: Loss) =>
  loss === 'observe' ? { action: loss } : ({ action: 'lose reply', end: loss } as const);

/** Add to a figure of the run. */
export function count({ figures }: Pick<FaultContext, 'figures'>, what: string, more = 1): void {
  figures[what] = (figures[what] ?? 0) + more;
}

export interface ApiRequest {
  method: string;
  path: string; // Below `/api/v1`.
  body?: unknown;
  key?: string | undefined; // Default: the admin key.
}

const OVERLOADED_MS = 20_000;

/** Call an API by its index. After `OVERLOADED`, nothing was done, so retry, as clients do. */
export async function callApi(
  { installation }: FaultContext,
  api: number,
  { method, path, body: sent, key = installation.key }: ApiRequest,
): Promise<{ status: number; body: Body; during: Span }> {
  const client = new HttpClient(installation.apis[api]?.url as string);
  try {
    for (const end = Date.now() + OVERLOADED_MS; ; await delay(100)) {
      const from = Date.now();
      const { status, body } = await client.call(method, `/api/v1${path}`, { key, body: sent });
      if (body?.code !== 'OVERLOADED' || from > end) return { status, body, during: { from, until: Date.now() } };
    }
  } finally {
    client.close();
  }
}

const BACK_MS = 60_000; // Maximum time to detect a dead connection on a slow machine.

/** Wait until a process is ready. */
export async function isReady(url: string): Promise<void> {
  await until(async () => (await fetch(`${url}/readyz`)).status === 200, BACK_MS);
}

/** Reset the connections that lost replies, and wait for new ones. The API has two, but readiness needs only one. */
export async function healed(context: FaultContext): Promise<void> {
  const losers = [loserOf(context, 'api'), loserOf(context, 'gateway')];
  for (const { proxy } of losers) proxy.resetLost();
  for (const { url } of losers) await isReady(url);
  const request = { method: 'GET', path: '/spaces/lost/stats' };
  await until(async () => (await callApi(context, LOSING, request)).status === 200, BACK_MS);
}
