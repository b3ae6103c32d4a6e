import type { Limits } from './limits.js';

/** Return the description of the whole document. */
export function descriptionOf({ sizes, kept }: Limits): string {
  const rows = [
    ['a body, on the wire and inflated', `${sizes.bodyBytes} bytes`],
    ['`payload`, `result`', `${sizes.payloadBytes} bytes of JSON`],
    ['progress, checkpoint, event, `error`, `reason`', `${sizes.eventBytes} bytes of JSON`],
    ['a batch of logs on the wire', `${sizes.logWireBytes} bytes`],
    ['a batch of logs inflated', `${sizes.logBatchBytes} bytes`],
    ['entries of a batch of logs', `${sizes.logEntries}`],
    ['an entry of a log', `${sizes.logEntryBytes} bytes of JSON`],
    ['window in which a claimed job is to be acked', `${kept.deliveryTimeoutMs / 1000} s`],
    ['delivery time-outs in a row, with no ack in between, after which a job is dead', `${kept.maxDeliveries}`],
    ['how long an ended job stays', kept.retentionMs === 0 ? 'for ever' : `${kept.retentionMs / 1000} s`],
    ['events kept of a job, the newest', `${kept.eventsPerJob}`],
    ['log entries kept of a job, the newest', `${kept.logsPerJob}`],
  ];
  const table = ['| Limit of this process | |', '|---|---|', ...rows.map(([what, most]) => `| ${what} | ${most} |`)];
  return `${ABOUT}\n\n${table.join('\n')}`;
}

const ABOUT = `Producers submit jobs to a space; workers claim them, say how they go, and complete or fail them.

Every operation needs an API key in the header \`x-api-key\`, which holds one of the scopes that the operation names. \`jobs:worker\` stands for all scopes on jobs but \`jobs:create\` and \`jobs:kill\`; \`jobs:read\` for \`jobs:read:progress\` as well. A key that is bound to a space is refused with 403 everywhere else.

Every error is \`{error, code}\`: a sentence for people and a word for programs. Checks are made in this order: path, key, scope, body, job. A path that there is not is 404 \`NOT_FOUND\`. After a 503 \`UNAVAILABLE\` nobody knows whether the call took effect.

Unknown fields of a body and unknown parameters of a query are ignored; later releases may add fields to answers. \`HEAD\` works where \`GET\` does, and \`OPTIONS\` answers 204 with \`Allow\`. An \`x-request-id\` of up to 128 printable characters is sent back.

Beside these paths every process has \`GET /livez\`, \`/readyz\` and \`/metrics\`, without a key: whether it works, whether it can serve, and its metrics for Prometheus. \`GET /api/v1/realtime/:jobId\` and \`GET /api/v1/realtime/spaces/:spaceId\` are streams over WebSocket, with the API key in the query parameter \`token\`: an \`init\` message with where things stand, and then every event. Asked for without a handshake they answer 426 \`UPGRADE_REQUIRED\`, and 429 \`TOO_MANY_STREAMS\` when as many are open as may be.`;
