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

/** Create the OpenAPI 3.1 document from a table of routes, their schemas, the error catalog and the job transitions. */
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
          description: 'An API key. Each operation lists the scopes it requires',
        },
        [BEARER]: {
          type: 'http',
          scheme: 'bearer',
          description: 'The same API key. If you send both, `x-api-key` wins',
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

/** Return the alternatives of scopes: a key needs all scopes of one list. */
const alternativesOf = ({ scopes }: Route): readonly (readonly string[])[] =>
  scopes === ANY_KEY ? [] : scopes.map((one) => (typeof one === 'string' ? [one] : one));

/** Return the responses to successful requests. */
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
    200: { ...usual, description: 'Already exists', headers, content },
    [status]: usual,
  };
}

/** Return links to the operations whose path contains the parameter. */
function linksTo({ parameter, from }: NonNullable<Route['success']['link']>, routes: readonly Route[]) {
  const next = routes.filter(({ path }) => path.includes(`:${parameter}`));
  const parameters = { [parameter]: `$response.body#${from}` };
  return Object.fromEntries(next.map(({ operation }) => [operation, { operationId: operation, parameters }]));
}

/** Limits of this process: what callers may send, and what is kept and for how long. */
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
    ['Request body, on the wire and decompressed', `${sizes.bodyBytes} bytes`],
    ['List of jobs to create, on the wire and decompressed', `${sizes.batchBytes} bytes`],
    ['`payload`, `result`', `${sizes.payloadBytes} bytes of JSON`],
    ['Progress, checkpoint, event, `error`, `reason`', `${sizes.eventBytes} bytes of JSON`],
    ['Batch of logs, on the wire', `${sizes.logWireBytes} bytes`],
    ['Batch of logs, decompressed', `${sizes.logBatchBytes} bytes`],
    ['Entries per batch of logs', `${sizes.logEntries}`],
    ['Log entry', `${sizes.logEntryBytes} bytes of JSON`],
    [
      'Delivery window, in which a claimed job must be acked',
      kept.deliveryTimeoutMs === 0 ? '`timeoutSeconds` of the job' : `${kept.deliveryTimeoutMs / 1000} seconds`,
    ],
    ['Consecutive delivery timeouts until a job is dead', `${kept.maxDeliveries}`],
    ['Retention of ended jobs', kept.retentionMs === 0 ? 'forever' : `${kept.retentionMs / 1000} seconds`],
    ['Newest events kept per job', `${kept.eventsPerJob}, in ${kept.eventBytesPerJob} bytes of memory`],
    ['Newest log entries kept per job', `${kept.logsPerJob}, in ${kept.logBytesPerJob} bytes of memory`],
  ];
  const table = ['| Limit of this server | |', '|---|---|', ...rows.map(([what, most]) => `| ${what} | ${most} |`)];
  return `${ABOUT}\n\n${table.join('\n')}`;
}

/** Job scopes that `jobs:worker` does not include. */
const NOT_FOR_WORKERS = SCOPES.filter((scope) => scope.startsWith('jobs:') && !grantsOf(['jobs:worker']).has(scope));

const ABOUT = `Producers submit jobs to a space. Workers claim jobs, report progress, and complete or fail them.

**Authentication.** Send an API key in the header \`x-api-key\`, or as \`Authorization: Bearer\`. The key needs one of the scopes that the operation lists. \`jobs:worker\` includes all job scopes except ${new Intl.ListFormat('en').format(NOT_FOR_WORKERS.map((scope) => `\`${scope}\``))}; \`jobs:read\` includes \`jobs:read:progress\`. A key that is bound to a space gets a 403 in every other space.

**Errors.** Every error is \`{error, code}\`: a human-readable message and a stable code to branch on. Requests are checked in this order: path, key, scope, body, job. An unknown path is 404 \`NOT_FOUND\`. After a 503 \`UNAVAILABLE\`, the call may or may not have taken effect.

**Unknown fields.** Unknown body fields are ignored, and the response lists their paths in the header \`x-ignored-fields\`. To have such a request refused with 400 instead, send \`Prefer: handling=strict\`. Unknown query parameters are always refused with 400. Later releases may add fields to responses.

**Streams.** \`GET /api/v1/realtime/:jobId\` and \`GET /api/v1/realtime/spaces/:spaceId\` are streams over WebSocket, or server-sent events if you send \`Accept: text/event-stream\`. Send an API key in the usual headers, or a stream token in the query parameter \`token\`. The first message, \`init\`, has the current state; every later event follows. A GET that asks for neither protocol is refused with 426 \`UPGRADE_REQUIRED\`; beyond the limit of open streams, you get 429 \`TOO_MANY_STREAMS\`. \`GET /api/v1/asyncapi.json\` describes the streams and needs no key.

**Other endpoints.** These need no key: \`GET /api/v1/info\` returns \`{service, version, features}\`. \`GET /livez\` tells whether a process is alive, \`/readyz\` whether it is ready for requests, and \`/metrics\` returns metrics for Prometheus. \`HEAD\` works wherever \`GET\` does, and \`OPTIONS\` returns 204 with \`Allow\`. An \`x-request-id\` of up to 128 printable characters is echoed in the response.`;
