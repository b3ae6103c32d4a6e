import { spaceId } from '@yardmaster/protocol';
import { z } from 'zod';
import type { Route } from '../route.js';
import { refTo } from './parts.js';
import { JOB_ID, KEY_ID, SPACE_ID } from './samples.js';
import { type JsonSchema, shown } from './schemas.js';

const inPath = (name: string, description: string, { schema = z.string() as z.ZodType, example = '' }) => ({
  name,
  in: 'path',
  required: true,
  description,
  schema: shown(schema),
  example,
});

/** The `components.parameters`: those of paths. */
export const PATH_PARAMETERS = {
  spaceId: inPath('spaceId', 'A space; `.` and `..` are best avoided', { schema: spaceId, example: SPACE_ID }),
  jobId: inPath('jobId', 'The `id` of a job', { example: JOB_ID }),
  keyId: inPath('keyId', 'The `id` of an API key', { example: KEY_ID }),
};

/** Return a path as OpenAPI writes it. */
export const templateOf = (path: string) => path.replace(/:(\w+)/g, '{$1}');

/** Return the `parameters` of an operation: those of its path and of its query. */
export function parametersOf({ path, query }: Route): unknown[] {
  const names = [...path.matchAll(/:(\w+)/g)].map(([, name]) => name as string);
  return [...names.map((name) => refTo('parameters', name)), ...(query === undefined ? [] : inQuery(shown(query)))];
}

/** Return the parameters of a query. A repeated parameter is a list, which is OpenAPI's default. */
function inQuery({ properties = {}, required = [] }: JsonSchema): unknown[] {
  return Object.entries(properties).map(([name, schema]) => {
    const { description, ...rest } = schema as JsonSchema;
    return { name, in: 'query', required: required.includes(name), description, schema: rest };
  });
}
