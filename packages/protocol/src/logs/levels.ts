/**
 * Levels of a log entry, by weight. Redis stores their place in this list, so it must only grow at its end.
 */
export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const;

export type LogLevel = (typeof LOG_LEVELS)[number];
