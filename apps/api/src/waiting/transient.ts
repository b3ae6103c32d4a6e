import { YardmasterError } from '@yardmaster/protocol';

/** Whether a waiting call keeps waiting after an error: Redis is away, or the process or Redis is busy. */
export const isTransient = (error: unknown) => error instanceof YardmasterError && error.status === 503;

/** Whether the outcome of a call to Redis is unknown. */
export const isUnknown = (error: unknown) => error instanceof YardmasterError && error.code === 'UNAVAILABLE';
