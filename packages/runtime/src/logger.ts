import { destination, type Logger, type LoggerOptions, pino, stdTimeFunctions } from 'pino';

export type { Logger };

/** Names of fields that could hold secrets. They are redacted up to two levels deep. */
const SECRETS = [
  'result',
  'checkpoint',
  'apiKey',
  'key',
  'token',
  'secret',
  'password',
  'authorization',
  '["x-api-key"]',
  'payload',
  'callbackHeaders',
];

const paths = SECRETS.flatMap((name) => {
  const tail = name.startsWith('[') ? name : `.${name}`;
  return [name, `*${tail}`, `*.*${tail}`];
});

/**
 * Select the properties of an error to log. Others are omitted, because ioredis attaches the whole command, with payloads
 * and secrets, to its errors.
 */
function errorForLog(error: unknown): unknown {
  if (!(error instanceof Error)) return { message: String(error) };
  const { name, message, stack } = error;
  const code = (error as { code?: unknown }).code;
  return {
    type: name,
    message,
    ...(typeof code === 'string' ? { code } : {}),
    stack,
    ...(error.cause === undefined ? {} : { cause: errorForLog(error.cause) }),
  };
}

/**
 * Create a logger that writes JSON lines to standard output, with ISO timestamps and redacted secrets.
 *
 * @param app name of the process, added to every line
 */
export function createLogger(app: string, level: string): Logger {
  const options: LoggerOptions = {
    level,
    base: { app },
    timestamp: stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    serializers: { err: errorForLog },
    redact: { paths, censor: '[redacted]' },
  };
  // Write synchronously. By default, pino buffers, and at exit it tries forever to flush the buffer if nothing reads it, as
  // after Ctrl-C on `npm start | tee log`.
  return pino(options, destination({ dest: 1, sync: true }));
}
