// Parts that several modules of the document use.

export const JSON_TYPE = 'application/json';

/** Return a reference into the document's own components. */
export const refTo = (kind: 'schemas' | 'responses' | 'headers' | 'parameters', name: string) => ({
  $ref: `#/components/${kind}/${name}`,
});

/** Headers of every response. */
export const REQUEST_ID_HEADER = { 'x-request-id': refTo('headers', 'RequestId') };

/** The `components.headers`. */
export const HEADERS = {
  RequestId: {
    description: 'The `x-request-id` of the request, when it had one of up to 128 printable characters; else a new one',
    required: true,
    schema: { type: 'string', minLength: 1, maxLength: 128 },
  },
  RetryAfter: { description: 'Seconds until a next try', required: true, schema: { type: 'integer', minimum: 1 } },
  Allow: { description: 'Methods that the path has', required: true, schema: { type: 'string' } },
};

/** Return the `examples` of a body, from values under the sentence that describes each. */
export function namedExamples(values: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(values).map(([summary, value], i) => [`example${i + 1}`, { summary, value }]),
  );
}
