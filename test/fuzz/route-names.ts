import type { Route } from '@yardmaster/api';

/** `POST /api/v1/jobs/:jobId/ack`. */
export const nameOf = ({ method, path }: Route) => `${method} ${path}`;

/** Whether a body of this endpoint is looked at. */
export const readsBody = ({ body, read }: Route) => body !== undefined || read !== undefined;
