import { ERRORS, type ErrorCode } from '@yardmaster/protocol';
import type { Body, Call } from '../checker/history.js';
import type { Exchange, Request, Wire } from './request.js';

// Calls about several jobs of a space. The history has the part of each job as a separate call, because the same rules apply as
// for single calls.

/** Calls about several jobs. They never reject. */
export interface ListCallers {
  /** Create several jobs with one call. */
  createList(creates: readonly Request[]): Promise<Call[]>;
  /** Report outcomes of several jobs with one call. */
  settle(outcomes: readonly Request[]): Promise<Call[]>;
  /** Report any number of outcomes, and poll with the same call. */
  turn(outcomes: readonly Request[], poll: Request): Promise<{ settled: Call[]; polled: Call }>;
}

/** Create these callers. @param exchange sends a request @param record adds a call to the history */
export function listCallers(
  exchange: (wire: Wire) => Promise<Exchange>,
  record: (request: Request, outcome: Exchange) => Call,
): ListCallers {
  const send = (request: Request, path: string, body: unknown) =>
    exchange({
      path: `/spaces/${request.spaceId}/jobs${path}`,
      body,
      headers: { 'idempotency-key': request.idempotencyKey ?? undefined },
      api: request.api,
      key: request.key,
    });

  const recordEach = (requests: readonly Request[], outcome: Exchange, entries: Body) =>
    requests.map((request, i) =>
      record(request, outcome.status === 200 ? partOf(outcome, request, entries?.[i]) : outcome),
    );

  return {
    async createList(creates) {
      const [first] = creates as [Request];
      const outcome = await send(
        first,
        '',
        creates.map(({ sent }) => sent),
      );
      return creates.map(({ idempotencyKey, ...request }, i) => {
        const key = idempotencyKey ? `${idempotencyKey} [${i}]` : null; // The key of each job.
        // The response to a list has few fields. Take the others from the request, so that the rules can compare them.
        const body =
          outcome.status === 201
            ? { callbackUrl: null, ...(request.sent as object), ...outcome.body[i] }
            : outcome.body;
        return record({ ...request, idempotencyKey: key }, { ...outcome, body });
      });
    },
    async settle(outcomes) {
      const [first] = outcomes as [Request];
      const outcome = await send(first, '/settle', { outcomes: outcomes.map(asOutcome) });
      return recordEach(outcomes, outcome, outcome.body?.results);
    },
    async turn(outcomes, poll) {
      const settle = outcomes.length > 0 && { settle: outcomes.map(asOutcome) };
      const outcome = await send(poll, '/poll', { ...(poll.sent as object), ...settle });
      const settled = recordEach(outcomes, outcome, outcome.body?.settled);
      const polled = record(poll, outcome);
      if (polled.outcome === 'ok' && polled.sent.autoAck) {
        for (const { id: jobId, deliveryToken: token } of polled.body.jobs)
          record({ client: poll.client, op: 'ack', jobId, token }, { ...outcome, body: { success: true } });
      }
      return { settled, polled };
    },
  };
}

/** Format an outcome for settle and poll. */
const asOutcome = ({ op, jobId, token, sent }: Request) => ({
  jobId,
  ...(token && { deliveryToken: token }),
  action: op,
  ...(op === 'checkpoint' || op === 'event' ? { data: sent } : (sent as object | undefined)),
});

/** Convert an entry of a list to the response of a single call. A list with a wrong entry counts as 500. */
function partOf(outcome: Exchange, { jobId }: Request, entry: Body): Exchange {
  if (entry?.jobId !== jobId) return { ...outcome, status: 500, body: { code: 'ANOTHER_JOB' } };
  const { jobId: _, success, ...rest } = entry;
  if (success) return { ...outcome, body: { success } };
  return { ...outcome, status: ERRORS[rest.code as ErrorCode]?.status ?? 500, body: rest };
}
