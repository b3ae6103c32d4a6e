import { destination, type Logger, type LoggerOptions, pino, stdTimeFunctions } from 'pino';

export type { Logger };

/** Names under which a secret could be logged; redacted wherever they appear, two levels deep. */
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
 * Return the properties of an error that are logged. Others are left out, because ioredis adds the whole command to its
 * errors, with payloads and secrets.
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
 * Create a logger: JSON lines on standard output, ISO times, level names, secrets redacted.
 *
 * @param app name of the process, in every line
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
  // Write at once. By default, pino writes later, and at exit it tries forever to write the rest when no process reads
  // it, as after Ctrl-C on `npm start | tee log`.
  return pino(options, destination({ dest: 1, sync: true }));
}
