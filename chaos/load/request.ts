import type { Body, Operation } from '../checker/history.js';

/** A call to make. */
export interface Request {
  client: string; // Name of the client in the history: `worker-3`.
  op: Operation;
  jobId?: string;
  spaceId?: string;
  sent?: unknown; // JSON body.
  token?: string | null | undefined; // Delivery token. Default none.
  idempotencyKey?: string | null; // Default none.
  api?: number; // Index of the API to send it to. Default: any that accepts connections.
  key?: string; // Default: the admin key.
}

/** A response, and the API that sent it. Without one, the status is null and the body is the reason. */
export interface Response {
  api: string;
  status: number | null;
  body: Body;
}

/** A request to send. */
export interface Wire {
  method?: 'POST' | 'DELETE'; // Default POST.
  path: string;
  body: unknown;
  headers: { [name: string]: string | undefined };
  api?: number | undefined;
  key?: string | undefined;
}

/** A response, and when the request was sent and the response arrived, epoch milliseconds. */
export interface Exchange extends Response {
  sentAt: number;
  endedAt: number;
}
