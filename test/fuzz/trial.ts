import { type CreateJobRequest, createJobRequest, uniqueRequest } from '@yardmaster/protocol';
import { STORE_DEFAULTS } from '@yardmaster/store';
import { create, newWorld } from '../model/index.js';
import { RawClient, type RawResponse } from '../support/raw-client.js';
import { type Expected, expectedOf } from './expected.js';
import { CALLS_SPACE } from './keys.js';
import { bytesOf, type FuzzRequest } from './request.js';
import { isOverload, isWanted, responseComplaints } from './response-rules.js';
import type { FuzzedService } from './service.js';
import { createTwin, differences, type Json, pick, type Twin, twinComplaints } from './twins.js';

/** Requests that are sent together on one connection, and their outcome. */
export interface Trial {
  requests: readonly FuzzRequest[];
  raw: Buffer;
  statuses: number[];
  complaints: string[];
}

/** Silence after which the service counts as hanging: its limit is 2 s, but a busy machine needs longer. */
const HANGS_AFTER_MS = 60_000;

type Prepared = { request: FuzzRequest; twin: Twin | null; raw: Buffer; expected: Expected };

/** Create the job or the key of a request, and write the request as bytes. */
async function prepare(service: FuzzedService, request: FuzzRequest): Promise<Prepared> {
  const { text } = request.target;
  const twin = /\{(job|encodedJob)\}/.test(text) ? await createTwin(service, request.place) : null;
  const job = twin?.id ?? '';
  const names = { ...service.keys, job, encodedJob: `%${job.charCodeAt(0).toString(16)}${job.slice(1)}` };
  const spare = { name: 'spare', scopes: ['jobs:ack'] };
  const key = text.includes('{key}') ? (await service.call('POST', '/keys', { body: spare })).body.id : '';
  return {
    request,
    twin,
    raw: bytesOf(request, { ...names, key, operation: service.operationId }),
    expected: expectedOf(request),
  };
}

/** Send requests on a connection of their own, and check the responses. */
export async function send(service: FuzzedService, requests: readonly FuzzRequest[]): Promise<Trial> {
  const prepared = await Promise.all(requests.map((request) => prepare(service, request)));
  const raw = Buffer.concat(prepared.map((each) => each.raw));
  const isWhole = requests.every(({ framing }) => framing.is === 'whole');
  const methods = requests.map(({ method }) => method);
  const client = new RawClient(service.http.url, methods);
  const complaints: string[] = [];
  client.socket.setTimeout(HANGS_AFTER_MS, () => {
    complaints.push('no response and no close');
    client.socket.destroy();
  });
  client.socket.write(raw);
  // Closing after an incomplete request shows the service that no more bytes will come.
  if (!isWhole) client.socket.end();
  const responses = isWhole ? await client.receive(requests.length) : await client.closed();
  client.socket.destroy();

  const { rest } = client.received;
  if (isWhole && rest.length > 0) complaints.push(`more bytes than the responses: ${rest.toString('latin1', 0, 200)}`);
  const isEnded = responses.some(({ headers }) => headers.connection === 'close');
  const isClear = prepared.every(({ expected }) => expected.outcomes !== null);
  if (isWhole && isClear && !isEnded && responses.length < requests.length)
    complaints.push('closed without a response');
  for (const [n, response] of responses.slice(0, requests.length).entries())
    complaints.push(...(await complaintsAbout(service, prepared[n] as Prepared, response)));
  return { requests, raw, statuses: responses.map(({ status }) => status), complaints };
}

async function complaintsAbout(service: FuzzedService, prepared: Prepared, response: RawResponse): Promise<string[]> {
  const { request, expected, raw } = prepared;
  const { outcomes } = expected;
  const sent = `${raw}${request.body?.text?.toString('utf8', 0, 2_000_000)}`;
  const complaints = responseComplaints(response, request.method, sent);
  if (outcomes === null || isOverload(response)) return complaints;
  if (!outcomes.some((outcome) => isWanted(response, request.method, outcome))) {
    const wanted = outcomes.map(({ status, code, at }) => `${status} ${code} ${at.join('|')}`.slice(0, 200));
    complaints.push(
      `returned ${response.status} ${response.text.slice(0, 300)}; expected ${[...new Set(wanted)].join(' or ')}`,
    );
  }
  if (complaints.length > 0) return complaints;
  return readBack(service, prepared, response).catch((error: Error) => [`cannot be read back: ${error.message}`]);
}

/** Fields whose values are compared as the schema returns them. */
const PARSED = [
  'callbackOn',
  'scheduledFor',
  'delaySeconds',
  'retry',
  'maxRunSeconds',
  'startWithinSeconds',
  'priority',
  'tags',
];

const DEFAULTS = { payload: null, maxRetries: 3, timeoutSeconds: 300, callbackUrl: null, callbackHeaders: null };

function createComplaints(value: unknown, response: Json): string[] {
  const { unique = null } = value as { unique?: object | null };
  const fields = { ...DEFAULTS, ...pick(value, ['name', ...Object.keys(DEFAULTS)]) };
  const options = pick(createJobRequest.parse(value), PARSED);
  const request = { ...fields, ...options, unique: unique && uniqueRequest.parse(unique) } as CreateJobRequest;
  const world = newWorld(STORE_DEFAULTS, Date.now());
  return differences('response', response, create(world, { id: response.id as string, space: CALLS_SPACE, request }));
}

const LARGEST = { percent: 100, maxRetries: 100, timeoutSeconds: 86_400 };

/** Check that the response to a list shows the jobs of the list. */
function listComplaints(items: unknown[], jobs: Json): string[] {
  const namesOf = (list: unknown) => JSON.stringify((list as { name: string }[]).map(({ name }) => name));
  return namesOf(items) === namesOf(jobs) ? [] : [`a list of ${namesOf(items)} became ${namesOf(jobs)}`];
}

/** Check accepted values by the limits of the specification, independent of the schemas. */
const limitComplaints = (value: Json): string[] =>
  Object.entries(LARGEST)
    .filter(([field, most]) => (value[field] as number) < 0 || (value[field] as number) > most)
    .map(([field]) => `${field} ${value[field]} was accepted`);

/** Compare an accepted or refused request with what is stored now. */
async function readBack(
  service: FuzzedService,
  { twin, expected }: Prepared,
  response: RawResponse,
): Promise<string[]> {
  const { route, value } = expected;
  const served = route !== null && response.status < 300 ? { route, value, response: response.text } : null;
  const complaints = served ? [value].flat().flatMap((it) => limitComplaints(Object(it))) : [];
  if (twin) return [...complaints, ...(await twinComplaints(service, twin, served))];
  // With 200 the response is another job, which has the unique key.
  if (served?.route.status !== 201 || response.status === 200) return complaints;
  const body = JSON.parse(response.text);
  if (served.route.operation === 'createJob') {
    return [...complaints, ...(Array.isArray(value) ? listComplaints(value, body) : createComplaints(value, body))];
  }
  // Delete the key, because the list of keys would grow with the run.
  await service.call('DELETE', `/keys/${body.id}`);
  return complaints;
}
