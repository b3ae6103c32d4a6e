import type { SizeLimits } from '../body/sizes.js';
import { type Route, TAGS } from '../routes/route.js';
import { VERSION } from '../version.js';
import { descriptionOf, type Limits } from './description.js';
import { errorResponses, HEADERS, namedErrorResponses, REQUEST_ID_HEADER, refusalsOf } from './errors.js';
import { PATH_PARAMETERS, parametersOf, requestBodyOf, templateOf } from './request.js';
import { JSON_TYPE, type JsonSchema, jsonSchemaOf, namedExamples, namedSchemas } from './schemas.js';

const KEY = 'apiKey';

/**
 * Create the OpenAPI 3.1 document of a table of routes from the rows, their schemas, the catalogue of errors and the
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
      parameters: PATH_PARAMETERS,
      headers: HEADERS,
      securitySchemes: {
        [KEY]: {
          type: 'apiKey',
          in: 'header',
          name: 'x-api-key',
          description: 'An API key. Each operation lists the scopes of which the key needs one',
        },
      },
    },
  };
}

/** Return the schemas to which parts of the document refer, also through other schemas. Streams have further schemas. */
function schemasIn(parts: unknown): Record<string, JsonSchema> {
  const all = namedSchemas();
  const found: Record<string, JsonSchema> = {};
  const collect = (part: unknown) => {
    for (const [, name = ''] of JSON.stringify(part).matchAll(/"#\/components\/schemas\/(\w+)"/g)) {
      if (name in found) continue;
      found[name] = all[name] as JsonSchema;
      collect(found[name]);
    }
  };
  collect(parts);
  return found;
}

function operationOf(route: Route, routes: readonly Route[], sizes: SizeLimits): Record<string, unknown> {
  const { operation, tag, summary, description } = route;
  const requestBody = requestBodyOf(route, sizes);
  const scopes = route.scopes.map((scope) => `\`${scope}\``).join(' or ');
  return {
    operationId: operation,
    tags: [tag],
    summary,
    description: [description, `Scope: ${scopes}.`].filter((sentence) => sentence !== undefined).join('\n\n'),
    security: route.scopes.map((scope) => ({ [KEY]: [scope] })),
    parameters: parametersOf(route),
    ...(requestBody === null ? {} : { requestBody }),
    responses: { [route.status ?? 200]: success(route, routes), ...errorResponses(refusalsOf(route)) },
  };
}

function success({ status, response, examples, links }: Route, routes: readonly Route[]): Record<string, unknown> {
  return {
    description: status === 201 ? 'Created' : 'Done',
    headers: REQUEST_ID_HEADER,
    content: { [JSON_TYPE]: { schema: jsonSchemaOf(response), examples: namedExamples(examples.response) } },
    ...(links === undefined ? {} : { links: linksTo(links, routes) }),
  };
}

/** Return links to the operations whose path has the parameter. */
function linksTo({ parameter, from }: NonNullable<Route['links']>, routes: readonly Route[]) {
  const next = routes.filter(({ path }) => path.includes(`:${parameter}`));
  const parameters = { [parameter]: `$response.body#${from}` };
  return Object.fromEntries(next.map(({ operation }) => [operation, { operationId: operation, parameters }]));
}
