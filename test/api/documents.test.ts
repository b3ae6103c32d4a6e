import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { STREAM_TYPES } from '@yardmaster/protocol';
import { Ajv } from 'ajv';
import addFormats from 'ajv-formats';
import type { Part } from '../support/openapi.js';
import { withService } from '../support/service.js';

// What code generators do not understand must not be in the documents. npm run test:long -- generators runs some generators.

const service = withService();
const documents: Record<string, Part> = {};
/** The AsyncAPI document. */
let document: Part;
beforeAll(async () => {
  for (const name of ['openapi', 'asyncapi'])
    documents[name] = (await service.http.call('GET', `/api/v1/${name}.json`)).body;
  document = documents.asyncapi;
});

type Test = (part: Part, at: string) => boolean;

/** Return where a part of a document matches. Values of examples are not searched. */
function places(part: Part, matches: Test, at = ''): string[] {
  if (typeof part !== 'object' || part === null || at.endsWith('/examples')) return [];
  const inner = Object.entries(part).flatMap(([key, value]) => places(value, matches, `${at}/${key}`));
  return matches(part, at) ? [at, ...inner] : inner;
}

describe.each(['openapi', 'asyncapi'])('generators and the document %s.json', (name) => {
  const found = (matches: Test) => places(documents[name], matches);

  it('documents a list of types only for a time that may be null', () => {
    const isTime = ({ type, format }: Part) => format === 'date-time' && `${type}` === 'string,null';
    expect(found((part) => Array.isArray(part.type) && !isTime(part))).toEqual([]);
  });

  it('documents every nullable time inline, as one type and null', () => {
    const isTime = ({ $ref, format }: Part) => $ref?.endsWith('/Timestamp') || format === 'date-time';
    expect(found(({ anyOf, oneOf }) => [anyOf, oneOf].some((list) => list?.some?.(isTime)))).toEqual([]);
  });

  it('documents a time by its format, without a pattern', () => {
    expect(found(({ format, pattern }) => format === 'date-time' && pattern !== undefined)).toEqual([]);
  });

  it('documents no default, because generated clients would send it', () => {
    const isVariable: Test = (_, at) => at.startsWith('/servers/');
    expect(found((part, at) => 'default' in part && !isVariable(part, at))).toEqual([]);
  });

  it('documents every object without named fields as open to any fields', () => {
    const isObject = ({ type }: Part) => type === 'object' || type?.includes?.('object');
    expect(found((part) => isObject(part) && !part.properties && !part.additionalProperties)).toEqual([]);
  });

  it('names no schema New…, which would collide with constructors in Go', () => {
    expect(Object.keys(documents[name].components.schemas).filter((id) => id.startsWith('New'))).toEqual([]);
  });

  it('documents the constants true and false only in the outcomes of a claim, without a type', () => {
    const places = found((part) => typeof part.const === 'boolean');
    const outcomes = ['Claimed', 'NotClaimed'].map((id) => `/components/schemas/${id}/properties/claimed`);
    expect(places).toEqual(name === 'openapi' ? outcomes : []);
    expect(found((part) => typeof part.const === 'boolean' && part.type !== undefined)).toEqual([]);
  });
});

it('documents every error in the OpenAPI document with one schema', () => {
  const { paths, components } = documents.openapi;
  const schemas = Object.values<Part>(components.responses).map(({ content }) => content['application/json'].schema);
  expect(new Set(schemas.map((schema) => JSON.stringify(schema)))).toEqual(
    new Set([JSON.stringify({ $ref: '#/components/schemas/Error' })]),
  );
  const responses = Object.values<Part>(paths).flatMap((path) => Object.values<Part>(path).map((one) => one.responses));
  const errors = responses.flatMap((one) => Object.entries<Part>(one)).filter(([status]) => status >= '400');
  expect(errors.filter(([, { $ref }]) => !$ref?.startsWith('#/components/responses/'))).toEqual([]);
});

it('names each choice between objects in the schemas of the OpenAPI document', () => {
  const isUnnamed = ({ type, properties }: Part) => type === 'object' && properties !== undefined;
  const unnamed = places(documents.openapi, ({ anyOf, oneOf }) =>
    [anyOf, oneOf].some((list) => list?.some?.(isUnnamed)),
  );
  expect(unnamed).toEqual([]);
});

it('describes what the absence of an optional field means', () => {
  const { CreateJob, Poll, CreateKey } = documents.openapi.components.schemas;
  expect(CreateJob.properties.maxRetries.description).toMatch(/\. Default: `3`$/);
  expect(CreateJob.properties.timeoutSeconds.description).toMatch(/\. Default: `300`$/);
  expect(Poll.properties.count.description).toMatch(/\. Default: `1`$/);
  expect(CreateKey.properties.expiresAt.description).toMatch(/\. Default: `null`$/);
});

// test/gateway/messages compares the messages of real streams with this document.

it('serves a document of the streams that is valid AsyncAPI 3.0', () => {
  const schema = createRequire(import.meta.url).resolve('@asyncapi/specs/schemas/3.0.0.json');
  // The schema contains the meta-schema of its draft, which ajv would add too.
  const ajv = new Ajv({ strict: false, allErrors: true, meta: false, validateSchema: false });
  addFormats.default(ajv);
  const validate = ajv.compile(JSON.parse(readFileSync(schema, 'utf8')));
  validate(document);
  expect({ version: document.asyncapi, faults: validate.errors }).toEqual({ version: '3.0.0', faults: null });
});

it.each(['openapi', 'asyncapi'])('serves %s.json without a key, as JSON that clients may cache', async (name) => {
  const { status, headers } = await service.http.call('GET', `/api/v1/${name}.json`);
  expect(status).toBe(200);
  expect(headers).toMatchObject({
    'content-type': 'application/json; charset=utf-8',
    'cache-control': 'public, max-age=300',
    'x-request-id': expect.any(String),
  });
});

/** Return every reference of a part of the document. */
function referencesIn(part: Part): string[] {
  if (typeof part !== 'object' || part === null) return [];
  return Object.entries(part).flatMap(([key, value]) => (key === '$ref' ? [value as string] : referencesIn(value)));
}

it('the AsyncAPI document refers only to parts that exist', () => {
  const at = (reference: string) =>
    reference
      .slice(2)
      .split('/')
      .reduce((part, step) => part?.[step], document);
  expect(referencesIn(document).filter((reference) => at(reference) === undefined)).toEqual([]);
});

/** Return the types of the messages that an operation sends. */
const typesOf = (operation: string): string[] =>
  document.operations[operation].messages.map(({ $ref }: Part) => {
    const id = $ref.split('/').at(-1);
    return document.components.schemas[id].properties.type.const;
  });

it('lists every message of each stream in the AsyncAPI document', () => {
  const types = Object.keys(STREAM_TYPES);
  const shown = Object.entries(STREAM_TYPES).filter(([, scope]) => scope !== 'withheld');
  expect(typesOf('sendJobEvents').sort()).toEqual(['init', ...types].sort());
  expect(typesOf('sendSpaceEvents').sort()).toEqual(['init', 'counts', 'created', ...types].sort());
  expect(typesOf('sendJobProgress').sort()).toEqual(['init', ...shown.map(([type]) => type)].sort());
});
