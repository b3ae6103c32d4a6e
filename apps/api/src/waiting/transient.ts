import { YardmasterError } from '@yardmaster/protocol';

/** Whether a call that waits must go on waiting after an error: Redis is away, or the process or Redis is busy. */
export const isTransient = (error: unknown) => error instanceof YardmasterError && error.status === 503;
