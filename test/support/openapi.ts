import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type { HttpResponse } from './http.js';

/** A part of an OpenAPI document. */
// biome-ignore lint/suspicious/noExplicitAny: the meta-schema describes it; types would be a second copy
export type Part = any;

/** An operation of a document. `resolved` looks up the parts that it refers to. */
export interface DocumentedOperation {
  method: string;
  /** With `{parameters}`. */
  path: string;
  operation: Part;
  /** Pointer to the operation in the document. */
  pointer: string;
}

const escaped = (step: string) => step.replaceAll('~', '~0').replaceAll('/', '~1');
const unescaped = (step: string) => step.replaceAll('~1', '/').replaceAll('~0', '~');

/** An OpenAPI document, which checks requests and responses. */
export class Contract {
  readonly #ajv = new Ajv2020({ strict: false, allErrors: true });
  readonly #validators = new Map<string, ValidateFunction>();

  /** @param isClosed whether a field that no schema names is a fault; default true */
  constructor(
    readonly document: Part,
    { isClosed = true } = {},
  ) {
    addFormats.default(this.#ajv);
    this.#ajv.addSchema(isClosed ? closed(document) : document, 'document');
  }

  operations(): DocumentedOperation[] {
    return Object.entries(this.document.paths as Part).flatMap(([path, item]) =>
      Object.entries(item as Part).map(([method, operation]) => ({
        method: method.toUpperCase(),
        path,
        operation,
        pointer: `/paths/${escaped(path)}/${method}`,
      })),
    );
  }

  /** Return the operation of an endpoint. @param path below /api/v1, with `:parameters` */
  operation({ method, path }: { method: string; path: string }): DocumentedOperation {
    const template = `/api/v1${path.replace(/:(\w+)/g, '{$1}').replace(/\?.*/, '')}`;
    const found = this.operations().find((one) => one.method === method && one.path === template);
    if (found === undefined) throw new Error(`${method} ${path} is not documented`);
    return found;
  }

  /** Return the part at a pointer, with references followed, and the pointer of that part. */
  resolved(pointer: string): { part: Part; pointer: string } {
    let part = this.document;
    let at = '';
    for (const step of pointer.split('/').slice(1)) {
      part = part?.[unescaped(step)];
      at += `/${step}`;
      if (typeof part?.$ref === 'string' && !at.includes('/schema'))
        ({ part, pointer: at } = this.resolved(part.$ref.slice(1)));
    }
    return { part, pointer: at };
  }

  /** Return the optional properties of an object in the body of an endpoint. @param path to the object */
  propertiesOf(endpoint: { method: string; path: string }, path: readonly string[]): string[] {
    const schemasOf = (schema: Part): Part[] => {
      if (typeof schema?.$ref === 'string') return schemasOf(this.resolved(schema.$ref.slice(1)).part);
      return [schema, ...(schema?.anyOf ?? schema?.oneOf ?? []).flatMap(schemasOf)].filter(
        (one) => typeof one === 'object',
      );
    };
    const { pointer } = this.operation(endpoint);
    const body = this.resolved(`${pointer}/requestBody/content/application~1json/schema`).part;
    const found = path.reduce(
      (schemas, step) =>
        schemas.flatMap((schema) =>
          schemasOf(schema.properties?.[step] ?? (step === '0' ? schema.items : schema.additionalProperties)),
        ),
      schemasOf(body),
    );
    const optional = found.flatMap(({ properties = {}, required = [] }) =>
      Object.keys(properties).filter((name) => !required.includes(name)),
    );
    return [...new Set(optional)];
  }

  /** Return the error codes that an operation documents for a status, one per example; none for a success. */
  codesOf({ pointer }: DocumentedOperation, status: string): string[] {
    const { part } = this.resolved(`${pointer}/responses/${status}`);
    const { schema, examples } = part.content['application/json'];
    if (schema.$ref !== '#/components/schemas/Error') return [];
    return Object.values<Part>(examples).map(({ value }) => value.code);
  }

  /** List what is wrong with a value by the schema at a pointer. */
  faults(pointer: string, value: unknown): string[] {
    const known = this.#validators.get(pointer);
    const validate = known ?? this.#ajv.compile({ $ref: `document#${encodeURI(pointer)}` });
    this.#validators.set(pointer, validate);
    if (validate(value)) return [];
    return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
  }

  /** List what is wrong with a real response of an operation. An undocumented status is wrong. */
  faultsOf(operation: DocumentedOperation, response: Pick<HttpResponse, 'status' | 'headers' | 'body'>): string[] {
    const { status, headers, body } = response;
    const documented = this.resolved(`${operation.pointer}/responses/${status}`);
    if (documented.part === undefined) return [`${status} is not documented`];
    return [
      ...this.faults(`${documented.pointer}/content/application~1json/schema`, body),
      ...this.#headerFaults(documented, headers),
      ...(status < 400 ? timeFaults(body) : errorFaults(response, this.codesOf(operation, `${status}`))),
    ];
  }

  #headerFaults(documented: { part: Part; pointer: string }, headers: HttpResponse['headers']): string[] {
    return Object.keys(documented.part.headers).flatMap((name) => {
      const { part, pointer } = this.resolved(`${documented.pointer}/headers/${name}`);
      const value = headers[name];
      if (value === undefined) return part.required ? [`${name} is missing`] : [];
      return this.faults(`${pointer}/schema`, part.schema.type === 'integer' ? Number(value) : value);
    });
  }
}

/** List times of the service that are not written in UTC with milliseconds, which the schemas say only in words. */
function timeFaults(body: unknown): string[] {
  const faults: string[] = [];
  JSON.stringify(body, (name, value) => {
    const isTime = /^(\w+At|timestamp)$/.test(name) && typeof value === 'string';
    if (isTime && !/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(value)) faults.push(`${name} is ${value}`);
    return value;
  });
  return faults;
}

/** List faults of an error that the common error schema does not find. */
function errorFaults({ status, body }: Pick<HttpResponse, 'status' | 'body'>, codes: readonly string[]): string[] {
  return [
    ...(codes.includes(body?.code) ? [] : [`${body?.code} is not documented`]),
    ...(status === 409 && body?.jobStatus === undefined ? ['jobStatus is missing'] : []),
  ];
}

/** Close a document: no object may have fields that no schema names, so that undocumented fields are found. */
function closed(part: Part): Part {
  if (Array.isArray(part)) return part.map(closed);
  if (typeof part !== 'object' || part === null) return part;
  const copy = Object.fromEntries(Object.entries(part).map(([key, value]) => [key, closed(value)]));
  return part.type === 'object' && part.properties !== undefined ? { additionalProperties: false, ...copy } : copy;
}
