/** Levels of a log entry, by severity. Redis stores their index in this list, so only ever append to it. */
export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const;

export type LogLevel = (typeof LOG_LEVELS)[number];
