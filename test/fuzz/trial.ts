import { isDeepStrictEqual } from 'node:util';
import { jobIn } from '../support/jobs.js';
import type { Contract } from '../support/openapi.js';
import { RawClient, type RawResponse } from '../support/raw-client.js';
import { ADMIN_KEY, type TestService } from '../support/service.js';
import { readBody, writeBody } from './readers.js';
import type { FuzzRequest } from './requests.js';

/** Silence after which the service counts as hanging. It closes such a connection after 35 s. */
const HANGS_AFTER_MS = 20_000;

/** A header of each request. */
const AGENT = 'agent-of-the-fuzzer';

/** Internal details, which no error may show. */
const INTERNAL =
  /node_modules|node:|\.(js|ts|lua|mjs)\b|\bat \w[\w.]* \(|redis|\blua\b|\bzod\b|ERR_|HPE_|WRONGTYPE|NOSCRIPT|Error:|Unexpected token|in JSON at|Invalid (input|option|key|type|string)|expected .*received|Too (big|small):|incorrect header|unexpected end|\[object \w|\bundefined\b|\/(tmp|home|app|usr)\//i;

/** A request with a job and a space of its own. */
interface Prepared {
  request: FuzzRequest;
  /** Id of the request, and of its space. */
  id: string;
  raw: Buffer;
  /** The value of its body; null when it must be refused. */
  read: { value: unknown } | null;
  /** Whether that is a value that the endpoint accepts, or needs none. */
  isValid: boolean;
  /** Return what the request may change, as text. */
  look(): Promise<string>;
  before: string;
}

type Rule = [isMet: boolean, complaint: string];

let requests = 0;

async function prepare(service: TestService, request: FuzzRequest): Promise<Prepared> {
  const { reader, framing } = request;
  const id = `fuzz-${requests++}`;
  const jobId = await jobIn(service, 'running', id);
  const fill = (path: string) => path.replace(':spaceId', id).replace(':jobId', jobId);
  const valid = writeBody(reader, request.body, jobId);
  const text = request.text(valid);
  const wire = request.gzip?.(text) ?? text;
  const lines = [
    `${reader.method} /api/v1${fill(reader.path)} HTTP/1.1`,
    ...['host: yard', `x-api-key: ${ADMIN_KEY}`, `user-agent: ${AGENT}`, `x-request-id: ${id}`],
    ...[`content-type: ${reader.type}`, ...(request.gzip ? ['content-encoding: gzip'] : [])],
    framing.lines.replaceAll('{n}', `${wire.length}`),
  ];
  const head = Buffer.from(lines.join('\r\n'));
  const body = framing.end === undefined ? [wire] : [...chunksOf(wire), Buffer.from(framing.end)];
  const read = readBody(reader, wire, request.gzip !== null);
  const look = async () => (await service.call('GET', fill(reader.changes))).text;
  return {
    ...{ request, id, read, look, before: await look() },
    raw: Buffer.concat([framing.head?.(head) ?? head, Buffer.from('\r\n\r\n'), ...body]),
    isValid: reader.limits === null || isDeepStrictEqual(read, readBody(reader, valid, false)),
  };
}

/** Write a body as two chunks, which must not be empty. */
const chunksOf = (body: Buffer) =>
  [body.subarray(0, body.length / 2), body.subarray(body.length / 2)]
    .filter(({ length }) => length > 0)
    .flatMap((chunk) => [Buffer.from(`${chunk.length.toString(16)}\r\n`), chunk, Buffer.from('\r\n')]);

/**
 * Send requests together on one connection, and check the responses and what they have changed.
 *
 * @param requests all except the last are framed as usual
 * @throws when something is wrong; the message shows what was sent
 */
export async function send(service: TestService, contract: Contract, requests: FuzzRequest[]): Promise<void> {
  const prepared: Prepared[] = [];
  for (const request of requests) prepared.push(await prepare(service, request));
  const raw = Buffer.concat(prepared.map((each) => each.raw));
  const isWhole = requests.every(({ framing }) => framing.is === 'whole');
  const client = new RawClient(service.url);
  let isHanging = false;
  client.socket.setTimeout(HANGS_AFTER_MS, () => {
    isHanging = true;
    client.socket.destroy();
  });
  client.socket.write(raw);
  // The end shows that no more bytes will come. The service may then close the connection without a response.
  if (!isWhole) client.socket.end();
  const responses = isWhole ? await client.receive(requests.length) : await client.closed();
  client.socket.destroy();

  const ids = prepared.map(({ id }) => id);
  const answered = responses.map(({ headers }) => headers['x-request-id'] as string);
  const rules: Rule[] = [
    [!isHanging, 'no response and no close'],
    [!isWhole || `${answered}` === `${ids}`, `responses to ${answered} instead of ${ids}`],
  ];
  for (const each of prepared) {
    // Only the last request may be so broken that its response has another id.
    const other = each.id === ids.at(-1) ? responses.find((_, n) => !ids.includes(answered[n] as string)) : undefined;
    rules.push(...(await rulesFor(each, responses[answered.indexOf(each.id)] ?? other ?? null, contract)));
  }
  const complaints = rules.filter(([isMet]) => !isMet).map(([, complaint]) => complaint);
  if (complaints.length === 0) return;
  const sent = JSON.stringify(raw.toString('latin1', 0, 1_500));
  throw new Error([...complaints.map((text) => text.slice(0, 1_500)), `${raw.length} bytes: ${sent}`].join('\n  '));
}

async function rulesFor(prepared: Prepared, response: RawResponse | null, contract: Contract): Promise<Rule[]> {
  const { request, read, isValid, before } = prepared;
  const { reader, framing } = request;
  const after = await prepared.look();
  const isWhole = framing.is === 'whole';
  const isUnreadable = reader.limits !== null && (framing.is === 'cut' || (isWhole && read === null));
  const mustBeRefused = framing.is === 'refused' || isUnreadable;
  const isUnchanged: Rule = [before === after, `it is refused, but has changed ${before} to ${after}`];
  if (response === null) return mustBeRefused ? [isUnchanged] : [];
  if (response.status >= 400) return [isUnchanged, ...refusalRules(prepared, response, contract)];
  const sent = JSON.stringify(reader.sent(read?.value));
  const stored = JSON.stringify(reader.stored(JSON.parse(after)));
  return [
    [!mustBeRefused, `it must be refused: ${response.status} ${response.text}`],
    // Of a value that is changed, but readable, only its endpoint knows whether it accepts it.
    [!isWhole || sent === stored || (!isValid && before === after), `it has stored ${stored} instead of ${sent}`],
  ];
}

function refusalRules({ request, raw, isValid }: Prepared, response: RawResponse, contract: Contract): Rule[] {
  const { reader, framing } = request;
  const { status, headers, text } = response;
  const body = JSON.parse(text);
  const isOverloaded = body.code === 'OVERLOADED';
  const isWhole = framing.is === 'whole';
  const shown = `${Object.values(headers)}\n${text}`;
  const [detail = ''] = INTERNAL.exec(text) ?? [];
  // With another head, it may be a request to another endpoint.
  const faults =
    framing.is === 'any'
      ? contract.faults('/components/schemas/Error', body)
      : contract.faultsOf(contract.operation(reader), { status, headers, body });
  const rules: Rule[] = [
    [!isWhole || !isValid || isOverloaded, 'it must be accepted'],
    [status < 500 || isOverloaded, 'a fault of the service'],
    [status !== 408, 'it waited for more, although the whole request or its end was sent'],
    [raw.includes(detail), `an internal detail: ${detail}`],
    [!shown.includes(AGENT) && !shown.includes(ADMIN_KEY), 'a header of the request'],
    [faults.length === 0, faults.join()],
  ];
  return rules.map(([isMet, complaint]) => [isMet, `${complaint}: ${status} ${text}`]);
}
