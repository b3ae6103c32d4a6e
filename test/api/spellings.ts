import { once } from 'node:events';
import { connect } from 'node:net';

/** A way to write the head of a call. */
export interface Spelling {
  name: string;
  /** What to ask for, in place of the path. */
  target: (path: string) => string;
  /** Lines beside those that the call has anyhow. */
  lines?: string[];
}

const percent = (character: string) => `%${character.charCodeAt(0).toString(16)}`;

/** As nearly everybody writes it. */
export const USUAL: Spelling = { name: 'as usual', target: (path) => path };

/** The same calls for Express to serve. */
export const OTHERS: Spelling[] = [
  { name: 'with a query', target: (path) => `${path}?x=1` },
  {
    name: 'with a letter of the id encoded',
    target: (path) => path.replace(/(?<=(spaces|jobs)\/)./, (letter) => percent(letter)),
  },
  { name: 'with an Origin', target: (path) => path, lines: ['Origin: https://app.example.com'] },
  { name: 'with a whole URL', target: (path) => `http://localhost${path}` },
  { name: 'with a slash at the end', target: (path) => `${path}/` },
];

export interface RawCall {
  method?: string;
  target: string;
  /** Lines of the head, each `name: value`. */
  lines?: string[];
  body?: string;
}

/** Send a request over a connection of its own, and read its answer, byte for byte. */
export async function sendRaw(
  url: string,
  { method = 'POST', target, lines = ['Host: localhost'], body = '' }: RawCall,
): Promise<string> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname).setEncoding('latin1');
  let text = '';
  socket.on('data', (chunk) => {
    text += chunk;
  });
  socket.on('error', () => undefined);
  const head = [...lines, 'Connection: close', `Content-Length: ${Buffer.byteLength(body)}`];
  socket.write(`${method} ${target} HTTP/1.1\r\n${head.join('\r\n')}\r\n\r\n${body}`);
  await once(socket, 'close');
  return text;
}

/** Status and headers of an answer, whose names are in small letters. */
export function headOf(text: string): { status: number; headers: Record<string, string> } {
  const [first = '', ...lines] = text.split('\r\n\r\n')[0]?.split('\r\n') ?? [];
  const headers = lines.map((line) => {
    const colon = line.indexOf(':');
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 2)];
  });
  return { status: Number(first.split(' ')[1]), headers: Object.fromEntries(headers) };
}

/** An answer without what differs from call to call: ids and times. */
export const alike = (text: string) =>
  text
    .replace(/[0-3][0-9a-f][a-z2-7]{26}/g, '<job>')
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>')
    .replace(/^date: .*\r\n/im, '');
