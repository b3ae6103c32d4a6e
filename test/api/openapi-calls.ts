import { ROUTES, type Route } from '@yardmaster/api';
import type { Status } from '@yardmaster/protocol';
import type { Answer, CallOptions } from '../support/http.js';
import { jobIn } from '../support/jobs.js';
import { Contract, type DocumentedOperation, type Part } from '../support/openapi.js';
import type { TestService } from '../support/service.js';
import { headOf, sendRaw } from './spellings.js';

/** Port 9 discards, if anybody listens there at all. */
const NOWHERE = 'http://127.0.0.1:9/';

export const SPACE_ID = 'contract';

/** In which a job takes a call. Default pending. */
const TAKEN_IN: Partial<Record<Route['operation'], Status>> = {
  ackJob: 'delivered',
  reportProgress: 'running',
  checkpointJob: 'running',
  recordEvent: 'running',
  keepJobAlive: 'running',
  completeJob: 'running',
  failJob: 'running',
  redeliverCallback: 'completed',
};

export const titled = ROUTES.map((route) => ({ route, title: `${route.method} ${route.path}` }));

/** What a path is filled with. */
export interface Named {
  spaceId: string;
  jobId: string;
  keyId: string;
}

/** A service and its document: calls, and what the document says of their answers. */
export class Caller {
  readonly #answered = new Set<string>();
  readonly #operations: Map<string, DocumentedOperation>;

  constructor(
    readonly service: TestService,
    readonly contract: Contract,
  ) {
    const byName = contract.operations().map((one) => [one.operation.operationId, one] as const);
    this.#operations = new Map(byName);
  }

  static async of(service: TestService): Promise<Caller> {
    return new Caller(service, new Contract((await service.call('GET', '/openapi.json')).body));
  }

  documented({ operation }: Route): DocumentedOperation {
    return this.#operations.get(operation) as DocumentedOperation;
  }

  /** The values of a body's examples; `[undefined]` for an operation that takes none. */
  bodiesOf(route: Route): unknown[] {
    const { requestBody } = this.documented(route).operation;
    if (requestBody === undefined) return [undefined];
    return Object.values(requestBody.content['application/json'].examples as Part).map(({ value }: Part) => value);
  }

  /** The examples of a body as they are sent, in every type that is documented. */
  textsOf(route: Route): { type: string; text: string }[] {
    const { content } = this.documented(route).operation.requestBody;
    return Object.entries(content as Part).flatMap(([type, { examples }]: Part) =>
      Object.values(examples).map(({ value }: Part) => ({
        type,
        text: typeof value === 'string' ? value : JSON.stringify(value),
      })),
    );
  }

  /** What a call needs to succeed: a job in the right status, or a key to revoke. */
  async target({ path, operation }: Route, status = TAKEN_IN[operation] ?? 'pending', fields = {}): Promise<Named> {
    const withCallback = { callbackUrl: NOWHERE, ...fields };
    return {
      spaceId: SPACE_ID,
      jobId: path.includes(':jobId') ? await jobIn(this.service, status, SPACE_ID, withCallback) : '',
      keyId: path.includes(':keyId') ? (await this.service.key(['jobs:read'])).id : '',
    };
  }

  /** Call with the first example as the body, unless told. */
  call(route: Route, named: Named, { query = '', method = route.method, ...options }: Options = {}): Promise<Answer> {
    const [body] = this.bodiesOf(route);
    const given = 'raw' in options || 'body' in options ? options : { body, ...options };
    return this.service.call(method, pathOf(route, named) + query, given);
  }

  /** Call without naming the host, which no client of a library can. */
  async callWithoutHost(route: Route, named: Named): Promise<Answer> {
    const target = `/api/v1${pathOf(route, named)}`;
    const text = await sendRaw(this.service.url, { method: route.method, target, lines: [] });
    const body = text.split('\r\n\r\n')[1] ?? '';
    return { ...headOf(text), text: body, body: JSON.parse(body) };
  }

  /** What is wrong with an answer; that its kind was seen is remembered. */
  faults(route: Route, answer: Answer): string[] {
    this.#answered.add(`${route.operation} ${answer.status} ${answer.body?.code ?? ''}`);
    return this.contract.faultsOf(this.documented(route), answer);
  }

  /** Kinds of answers that are documented and were not seen. */
  notSeen(): string[] {
    return ROUTES.flatMap((route) => this.kindsOf(route)).filter((kind) => !this.#answered.has(kind));
  }

  /** Every answer that is documented: `operation status code`. */
  kindsOf(route: Route): string[] {
    const { pointer, operation } = this.documented(route);
    return Object.keys(operation.responses).flatMap((status) => {
      const { part } = this.contract.resolved(`${pointer}/responses/${status}`);
      const codes = part.content['application/json'].schema.allOf?.[1].properties.code.enum ?? [''];
      return codes.map((code: string) => `${route.operation} ${status} ${code}`);
    });
  }
}

interface Options extends CallOptions {
  query?: string;
  method?: string;
}

const pathOf = ({ path }: Route, named: Named) =>
  path.replace('/api/v1', '').replace(/:(\w+)/, (_, name) => named[name as keyof Named]);
