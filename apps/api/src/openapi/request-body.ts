import { logBatch, newLogs } from '@yardmaster/protocol';
import type { Route } from '../route.js';
import type { SizeLimits } from '../sizes.js';
import { LINES } from './operations/logs.js';
import { OPERATIONS } from './operations.js';
import { JSON_TYPE, namedExamples } from './parts.js';
import { shown } from './schemas.js';

const GZIP = 'Either may be compressed, with `content-encoding: gzip`.';

/** Return the `requestBody` of an operation; null for one that reads no body. */
export function requestBodyOf(route: Route, sizes: SizeLimits): Record<string, unknown> | null {
  const { request = {} } = OPERATIONS[route.operation];
  if (route.read !== undefined) return logsBody(request, sizes);
  if (route.body === undefined) return null;
  const content = { [JSON_TYPE]: { schema: shown(route.body), examples: namedExamples(request) } };
  return { description: limitsOf(route, sizes), required: !isOptional(route), content };
}

/** Whether the body may be absent: its schema accepts the value that then replaces it. */
function isOptional({ body, absentBody }: Route): boolean {
  return body?.safeParse(absentBody === null ? null : {}).success === true;
}

function limitsOf({ measured = [] }: Route, sizes: SizeLimits): string {
  const parts = measured.map(({ path, limit }) =>
    path === null
      ? `The value is at most ${sizes[limit]} bytes of JSON.`
      : `\`${path}\` is at most ${sizes[limit]} bytes of JSON.`,
  );
  const whole = `At most ${sizes.bodyBytes} bytes, on the wire and inflated.`;
  return [whole, ...parts, 'It may be compressed, with `content-encoding: gzip`.'].join(' ');
}

/**
 * Return the `requestBody` for batches of logs. NDJSON is described as the list of the values of its lines, as later
 * releases of OpenAPI recommend.
 */
function logsBody(request: Record<string, unknown>, sizes: SizeLimits): Record<string, unknown> {
  const { logWireBytes, logBatchBytes, logEntries, logEntryBytes } = sizes;
  const lines = { schema: shown(newLogs), examples: namedExamples({ 'Two lines': LINES }) };
  return {
    description: `At most ${logWireBytes} bytes on the wire, ${logBatchBytes} bytes inflated, and ${logEntries} entries of ${logEntryBytes} bytes of JSON each. ${GZIP}`,
    required: true,
    content: {
      [JSON_TYPE]: { schema: shown(logBatch), examples: namedExamples(request) },
      'application/x-ndjson': lines,
      'application/ndjson': lines,
    },
  };
}
