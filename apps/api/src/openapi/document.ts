import { SCOPES } from '@yardmaster/protocol';
import { grantsOf } from '@yardmaster/protocol/scopes';
import type { StoreSettings } from '@yardmaster/store';
import type { Examples, SizeLimits } from '../call.js';

import { ANY_KEY, type Route, TAGS } from '../routes/route.js';
import { VERSION } from '../version.js';
import {
  COMMON_HEADERS,
  errorResponses,
  HEADERS,
  namedErrorResponses,
  PAGE_HEADERS,
  REPLAYED_HEADER,
  refusalsOf,
  STRICTNESS_HEADERS,
} from './errors.js';
import { oneOrListOf, PARAMETERS, parametersOf, requestBodyOf, templateOf } from './request.js';
import { JSON_TYPE, type JsonSchema, jsonSchemaOf, namedExamples, schemasIn } from './schemas.js';

const KEY = 'apiKey';
const BEARER = 'bearer';

/**
 * Create the OpenAPI 3.1 document of a table of routes from the rows, their schemas, the catalog of errors and the
 * transitions of a job.
 */
export function openApiDocument(routes: readonly Route[], limits: Limits): Record<string, unknown> {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const route of routes) {
    const path = templateOf(route.path);
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operationOf(route, routes, limits.sizes) };
  }
  const responses = namedErrorResponses(routes.map(refusalsOf));
  return {
    openapi: '3.1.0',
    info: {
      title: 'Yardmaster',
      version: VERSION,
      summary: 'Job dispatch over HTTP',
      description: descriptionOf(limits),
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/' }],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    paths,
    components: {
      schemas: schemasIn([paths, responses]),
      responses,
      parameters: PARAMETERS,
      headers: HEADERS,
      securitySchemes: {
        [KEY]: {
          type: 'apiKey',
          in: 'header',
          name: 'x-api-key',
          description: 'An API key. Each operation lists the scopes of which the key needs one',
        },
        [BEARER]: {
          type: 'http',
          scheme: 'bearer',
          description: 'The same API key. It counts only without `x-api-key`',
        },
      },
    },
  };
}

function operationOf(route: Route, routes: readonly Route[], sizes: SizeLimits): Record<string, unknown> {
  const { operation, tag, summary, description } = route;
  const requestBody = requestBodyOf(route, sizes);
  const alternatives = alternativesOf(route);
  const scopes = alternatives.map((all) => all.map((scope) => `\`${scope}\``).join(' and ')).join(' or ');
  return {
    operationId: operation,
    tags: [tag],
    summary,
    description: [description, `Scope: ${scopes || 'none'}.`].filter((sentence) => sentence !== undefined).join('\n\n'),
    security: [KEY, BEARER].flatMap((scheme) =>
      (alternatives.length === 0 ? [[]] : alternatives).map((all) => ({ [scheme]: all })),
    ),
    parameters: parametersOf(route),
    ...(requestBody === null ? {} : { requestBody }),
    responses: { ...successes(route, routes), ...errorResponses(refusalsOf(route)) },
  };
}

/** Return the lists of scopes of which a key needs one, whole. */
const alternativesOf = ({ scopes }: Route): readonly (readonly string[])[] =>
  scopes === ANY_KEY ? [] : scopes.map((one) => (typeof one === 'string' ? [one] : one));

/** Return the responses to requests that are not refused. */
function successes(route: Route, routes: readonly Route[]): Record<string, unknown> {
  const { success, input, header } = route;
  const { status = 200, schema, examples, else200, link, isPaged } = success;
  const list = input?.body?.list;
  const headers = { ...COMMON_HEADERS, ...(input?.body ? STRICTNESS_HEADERS : {}) };
  const contentOf = (json: JsonSchema, shown: Examples) => ({
    [JSON_TYPE]: { schema: json, examples: namedExamples(shown) },
  });
  const usual = {
    description: { 200: 'Done', 201: 'Created', 202: 'Started' }[status],
    headers: {
      ...headers,
      ...(header === 'idempotency-key' ? REPLAYED_HEADER : {}),
      ...(isPaged === true ? PAGE_HEADERS : {}),
    },
    content: contentOf(oneOrListOf(schema, list?.response), { ...examples, ...list?.responses }),
    ...(link === undefined ? {} : { links: linksTo(link, routes) }),
  };
  if (else200 === undefined) return { [status]: usual };
  const content = contentOf(jsonSchemaOf(else200.schema), else200.examples);
  return {
    200: { ...usual, description: 'Another one existed', headers, content },
    [status]: usual,
  };
}

/** Return links to the operations whose path has the parameter. */
function linksTo({ parameter, from }: NonNullable<Route['success']['link']>, routes: readonly Route[]) {
  const next = routes.filter(({ path }) => path.includes(`:${parameter}`));
  const parameters = { [parameter]: `$response.body#${from}` };
  return Object.fromEntries(next.map(({ operation }) => [operation, { operationId: operation, parameters }]));
}

/** Limits of this process: what callers may send, and how much of it the process keeps and for how long. */
export interface Limits {
  sizes: SizeLimits;
  kept: Pick<
    StoreSettings,
    | ('deliveryTimeoutMs' | 'maxDeliveries' | 'retentionMs')
    | ('eventsPerJob' | 'eventBytesPerJob' | 'logsPerJob' | 'logBytesPerJob')
  >;
}

/** Return the description of the whole document. */
export function descriptionOf({ sizes, kept }: Limits): string {
  const rows = [
    ['a body, on the wire and inflated', `${sizes.bodyBytes} bytes`],
    ['a list of jobs to create, on the wire and inflated', `${sizes.batchBytes} bytes`],
    ['`payload`, `result`', `${sizes.payloadBytes} bytes of JSON`],
    ['progress, checkpoint, event, `error`, `reason`', `${sizes.eventBytes} bytes of JSON`],
    ['a batch of logs on the wire', `${sizes.logWireBytes} bytes`],
    ['a batch of logs inflated', `${sizes.logBatchBytes} bytes`],
    ['entries of a batch of logs', `${sizes.logEntries}`],
    ['an entry of a log', `${sizes.logEntryBytes} bytes of JSON`],
    [
      'delivery window, in which a claimed job must be acked',
      kept.deliveryTimeoutMs === 0 ? 'the `timeoutSeconds` of the job' : `${kept.deliveryTimeoutMs / 1000} s`,
    ],
    ['delivery timeouts in a row after which a job is dead', `${kept.maxDeliveries}`],
    ['retention of an ended job', kept.retentionMs === 0 ? 'for ever' : `${kept.retentionMs / 1000} s`],
    ['events kept of a job, the newest', `${kept.eventsPerJob}, in ${kept.eventBytesPerJob} bytes of memory`],
    ['log entries kept of a job, the newest', `${kept.logsPerJob}, in ${kept.logBytesPerJob} bytes of memory`],
  ];
  const table = ['| Limit of this process | |', '|---|---|', ...rows.map(([what, most]) => `| ${what} | ${most} |`)];
  return `${ABOUT}\n\n${table.join('\n')}`;
}

/** Scopes on jobs that `jobs:worker` does not include. */
const NOT_FOR_WORKERS = SCOPES.filter((scope) => scope.startsWith('jobs:') && !grantsOf(['jobs:worker']).has(scope));

const ABOUT = `Producers submit jobs to a space. Workers claim jobs, report progress, and complete or fail them.

Every operation needs an API key in the header \`x-api-key\`, or as \`Authorization: Bearer\`, with one of the scopes that the operation names. \`jobs:worker\` includes all scopes on jobs except ${new Intl.ListFormat('en').format(NOT_FOR_WORKERS.map((scope) => `\`${scope}\``))}; \`jobs:read\` includes \`jobs:read:progress\`. A key that is bound to a space is refused with 403 in every other space.

Every error is \`{error, code}\`: a message for people and a code for programs. Requests are checked in this order: path, key, scope, body, job. An unknown path is 404 \`NOT_FOUND\`. After a 503 \`UNAVAILABLE\` it is unknown whether the call took effect.

Unknown fields of a body are ignored, and the response lists their paths in the header \`x-ignored-fields\`. A request with \`Prefer: handling=strict\` is refused with 400 instead. An unknown parameter of a query is always 400. Later releases may add fields to responses. \`HEAD\` works where \`GET\` does, and the response to \`OPTIONS\` is 204 with \`Allow\`. An \`x-request-id\` of up to 128 printable characters is sent back.

\`GET /api/v1/info\` returns \`{service, version, features}\` without a key. Every process also serves \`GET /livez\`, \`/readyz\` and \`/metrics\` without a key: whether it works, whether it can serve requests, and its metrics for Prometheus. \`GET /api/v1/realtime/:jobId\` and \`GET /api/v1/realtime/spaces/:spaceId\` are streams over WebSocket, or server-sent events if you send \`Accept: text/event-stream\`. Put the API key in the usual headers, or a stream token in the query parameter \`token\`. The first message, \`init\`, has the current state; then every event follows. A GET that asks for neither is refused with 426 \`UPGRADE_REQUIRED\`, and one beyond the limit of open streams with 429 \`TOO_MANY_STREAMS\`. \`GET /api/v1/asyncapi.json\` describes the streams and needs no key.`;
