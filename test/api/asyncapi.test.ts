import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { beforeAll, expect, it } from '@jest/globals';
import { STREAM_TYPES } from '@yardmaster/protocol';
import { Ajv } from 'ajv';
import addFormats from 'ajv-formats';
import type { Part } from '../support/openapi.js';
import { withService } from '../support/service.js';

// test/gateway/messages compares the messages of real streams with this document.

const PATH = '/api/v1/asyncapi.json';
let document: Part;
const service = withService();
beforeAll(async () => {
  document = (await service.http.call('GET', PATH)).body;
});

it('serves a document of the streams that is valid AsyncAPI 3.0', () => {
  const schema = createRequire(import.meta.url).resolve('@asyncapi/specs/schemas/3.0.0.json');
  // The schema contains the meta-schema of its draft, which ajv would add too.
  const ajv = new Ajv({ strict: false, allErrors: true, meta: false, validateSchema: false });
  addFormats.default(ajv);
  const validate = ajv.compile(JSON.parse(readFileSync(schema, 'utf8')));
  validate(document);
  expect({ version: document.asyncapi, faults: validate.errors }).toEqual({ version: '3.0.0', faults: null });
});

it('serves the AsyncAPI document without a key, as JSON that clients may cache', async () => {
  const { status, headers } = await service.http.call('GET', PATH);
  expect(status).toBe(200);
  expect(headers).toMatchObject({
    'content-type': 'application/json; charset=utf-8',
    'cache-control': 'public, max-age=300',
  });
});

/** Return every reference of a part of the document. */
function referencesIn(part: Part): string[] {
  if (typeof part !== 'object' || part === null) return [];
  return Object.entries(part).flatMap(([key, value]) => (key === '$ref' ? [value as string] : referencesIn(value)));
}

it('refers only to parts of the AsyncAPI document that exist', () => {
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
