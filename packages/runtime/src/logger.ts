import { destination, type Logger, type LoggerOptions, pino, stdTimeFunctions } from 'pino';

export type { Logger };

/** Names under which a secret could travel; redacted wherever they turn up, two levels deep. */
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
 * What the log keeps of an error. Not its other properties: ioredis hangs the whole command on its errors, with
 * payloads and secrets.
 */
export function errorForLog(error: unknown): unknown {
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
 * Make a logger: JSON lines on standard output, ISO times, level names, secrets redacted.
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
  // Written at once: pino's own default writes later, and at exit tries to write what is left for ever when nobody
  // reads it any more, as after Ctrl-C on `npm start | tee log`.
  return pino(options, destination({ dest: 1, sync: true }));
}
