import { readFileSync } from 'node:fs';
import type { Route } from '../route.js';
import type { SizeLimits } from '../sizes.js';
import { descriptionOf } from './description.js';
import { errorResponses, namedErrorResponses } from './errors.js';
import type { Limits } from './limits.js';
import { TAGS } from './operation.js';
import { OPERATIONS } from './operations.js';
import { PATH_PARAMETERS, parametersOf, templateOf } from './parameters.js';
import { HEADERS, JSON_TYPE, namedExamples, REQUEST_ID_HEADER } from './parts.js';
import { refusalsOf } from './refusals.js';
import { requestBodyOf } from './request-body.js';
import { namedSchemas, shown } from './schemas.js';

const KEY = 'apiKey';

/**
 * Create the OpenAPI 3.1 document of a table of routes from the rows, their schemas, the catalogue of errors and the
 * transitions of a job; OPERATIONS has the texts and the examples.
 */
export function openApiDocument(routes: readonly Route[], limits: Limits): Record<string, unknown> {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const route of routes) {
    const path = templateOf(route.path);
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operationOf(route, routes, limits.sizes) };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Yardmaster',
      version: versionOfPackage(),
      summary: 'Job dispatch over HTTP',
      description: descriptionOf(limits),
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/' }],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    paths,
    components: {
      schemas: namedSchemas(),
      responses: namedErrorResponses(routes.map(refusalsOf)),
      parameters: PATH_PARAMETERS,
      headers: HEADERS,
      securitySchemes: {
        [KEY]: {
          type: 'apiKey',
          in: 'header',
          name: 'x-api-key',
          description: 'An API key. Beside it stand the scopes of which the key must hold one',
        },
      },
    },
  };
}

function operationOf(route: Route, routes: readonly Route[], sizes: SizeLimits): Record<string, unknown> {
  const { tag, summary, description } = OPERATIONS[route.operation];
  const requestBody = requestBodyOf(route, sizes);
  const scopes = route.scopes.map((scope) => `\`${scope}\``).join(' or ');
  return {
    operationId: route.operation,
    tags: [tag],
    summary,
    description: [description, `Scope: ${scopes}.`].filter((sentence) => sentence !== undefined).join('\n\n'),
    security: route.scopes.map((scope) => ({ [KEY]: [scope] })),
    parameters: parametersOf(route),
    ...(requestBody === null ? {} : { requestBody }),
    responses: { [route.created ? 201 : 200]: success(route, routes), ...errorResponses(refusalsOf(route)) },
  };
}

function success(route: Route, routes: readonly Route[]): Record<string, unknown> {
  const { response, yields } = OPERATIONS[route.operation];
  return {
    description: route.created ? 'Created' : 'Done',
    headers: REQUEST_ID_HEADER,
    content: { [JSON_TYPE]: { schema: shown(route.response), examples: namedExamples(response) } },
    ...(yields === undefined ? {} : { links: linksTo(yields, routes) }),
  };
}

/** Return links to the operations that can be called next. */
function linksTo({ parameter, at }: { parameter: string; at: string }, routes: readonly Route[]) {
  const next = routes.filter(({ path }) => path.includes(`:${parameter}`));
  const parameters = { [parameter]: `$response.body#${at}` };
  return Object.fromEntries(next.map(({ operation }) => [operation, { operationId: operation, parameters }]));
}

function versionOfPackage(): string {
  return JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')).version;
}
