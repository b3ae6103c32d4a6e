import type { Random } from '../logs/random.js';

/** How a request is put on the wire. */
export interface Framing {
  name: string;
  /**
   * `whole`: as HTTP says, in whichever way. `refused`: none that HTTP knows. `cut`: it begins well, and what the service
   * makes of it depends on how much of it is read.
   */
  is: 'whole' | 'refused' | 'cut';
  /** Lines of the head beside those of the request, each with its end. */
  lines: string;
  /** The body as it is sent. */
  bytes: Buffer;
  /** Between the lines and the blank one; a whole head in place of `METHOD target HTTP/1.1`. */
  version?: string;
}

type Frame = (random: Random, body: Buffer) => Omit<Framing, 'name'>;

const CRLF = '\r\n';

const measured: Frame = (_, body) => ({ is: 'whole', lines: `Content-Length: ${body.length}${CRLF}`, bytes: body });

/** Cut into chunks, of a few bytes or of many. */
function inChunks(random: Random, body: Buffer, extension = ''): Buffer {
  const parts: Buffer[] = [];
  const size = random.of([1, 3, 1_000, 100_000]);
  // Node bounds the extensions of all chunks together.
  const step = Math.max(size, Math.ceil(body.length / 1_000));
  for (let at = 0; at < body.length; at += step) {
    const chunk = body.subarray(at, at + step);
    parts.push(Buffer.from(`${chunk.length.toString(16)}${extension}${CRLF}`), chunk, Buffer.from(CRLF));
  }
  return Buffer.concat(parts);
}

const CHUNKED = `Transfer-Encoding: chunked${CRLF}`;

const chunked =
  ({ end = `0${CRLF}${CRLF}`, extension = '', lines = CHUNKED, is = 'whole' as Framing['is'] } = {}): Frame =>
  (random, body) => ({ is, lines, bytes: Buffer.concat([inChunks(random, body, extension), Buffer.from(end)]) });

const lying =
  (is: Framing['is'], length: (real: number) => string): Frame =>
  (_, body) => ({ is, lines: `Content-Length: ${length(body.length)}${CRLF}`, bytes: body });

const lined =
  (lines: string, is: Framing['is'] = 'whole'): Frame =>
  (random, body) => ({ ...measured(random, body), lines: `Content-Length: ${body.length}${CRLF}${lines}${CRLF}`, is });

/** Every way to frame a request that is not the usual one. */
const FRAMES: Record<string, Frame> = {
  chunked: chunked(),
  'with a chunk extension': chunked({ extension: ';a=b;c="d"' }),
  'with trailers': chunked({ end: `0${CRLF}x-trailer: a${CRLF}${CRLF}` }),
  'with an Expect': lined('Expect: 100-continue'),
  'with an unknown Expect': lined('Expect: the-unexpected'),
  'with an Upgrade': lined(`Connection: Upgrade${CRLF}Upgrade: h2c`),
  'with Connection: close': lined('Connection: close'),
  'with many headers': lined(Array.from({ length: 150 }, (_, i) => `x-${i}: ${i}`).join(CRLF)),
  'with odd header names': lined(`__proto__: a${CRLF}constructor: b${CRLF}x!#$%&'*+.^_\`|~: c${CRLF}x-empty:`),
  'with method overrides': lined(
    `X-HTTP-Method-Override: DELETE${CRLF}X-Forwarded-For: 1.2.3.4, ::1${CRLF}X-Forwarded-Host: evil${CRLF}Forwarded: for="\\`,
  ),
  'with an Origin': lined(`Origin: https://page.example${CRLF}Access-Control-Request-Method: PUT`),
  'with a Range': lined(
    `Range: bytes=0-1${CRLF}If-None-Match: *${CRLF}Accept: text/html${CRLF}Accept-Encoding: gzip${CRLF}TE: trailers`,
  ),
  'with leading zeros': lying('whole', (real) => `000${real}`),
  'with blanks around the length': lying('whole', (real) => `  ${real} `),
  'too long a length': lying('cut', (real) => String(real + 5)),
  'far too long a length': lying('cut', (real) => String(real + 1e12)),
  'too short a length': lying('cut', (real) => String(Math.max(0, real - 3))),
  'an endless length': lying('refused', () => '9'.repeat(40)),
  'a length below zero': lying('refused', () => '-1'),
  'a length with a sign': lying('refused', (real) => `+${real}`),
  'a length in hexadecimal': lying('refused', (real) => `0x${real.toString(16)}`),
  'a length of no digits': lying('refused', () => 'abc'),
  'two lengths': (_, body) => ({
    is: 'refused',
    lines: `Content-Length: ${body.length}${CRLF}Content-Length: ${body.length + 1}${CRLF}`,
    bytes: body,
  }),
  'a list of lengths': lying('refused', (real) => `${real}, ${real}`),
  'a length and chunks': chunked({ lines: `Content-Length: 3${CRLF}${CHUNKED}`, is: 'refused' }),
  'chunks and a length': chunked({ lines: `${CHUNKED}Content-Length: 3${CRLF}`, is: 'refused' }),
  'an unknown transfer encoding': chunked({ lines: `Transfer-Encoding: gzip${CRLF}`, is: 'cut' }),
  'two transfer encodings': chunked({ lines: `Transfer-Encoding: chunked, identity${CRLF}`, is: 'cut' }),
  'chunked twice': chunked({ lines: `Transfer-Encoding: chunked${CRLF}Transfer-Encoding: chunked${CRLF}`, is: 'cut' }),
  'no last chunk': chunked({ end: '', is: 'cut' }),
  'a cut last chunk': chunked({ end: '0', is: 'cut' }),
  'a chunk size of no digits': chunked({ end: `zz${CRLF}`, is: 'cut' }),
  'a chunk size beyond all bounds': chunked({ end: `${'f'.repeat(20)}${CRLF}`, is: 'cut' }),
  'a chunk size below zero': chunked({ end: `-1${CRLF}`, is: 'cut' }),
  'an endless chunk extension': chunked({ end: `1;${'x'.repeat(40_000)}${CRLF}a${CRLF}0${CRLF}${CRLF}`, is: 'cut' }),
  'a length as a trailer': chunked({ end: `0${CRLF}content-length: 5${CRLF}${CRLF}`, is: 'cut' }),
  'a broken trailer': chunked({ end: `0${CRLF}no colon${CRLF}${CRLF}`, is: 'cut' }),
  'many trailers': chunked({ end: `0${CRLF}${`x: ${'y'.repeat(1_000)}${CRLF}`.repeat(40)}${CRLF}`, is: 'cut' }),
  'two hosts': lined('Host: other', 'refused'),
  'a header without a colon': lined('no colon', 'refused'),
  'a header name with a blank': lined('x y: z', 'refused'),
  'a blank before the colon': lined('x-y : z', 'refused'),
  'a folded header': lined(`x-y: a${CRLF} b`, 'cut'),
  'a NUL in a header': lined('x-y: a\0b', 'refused'),
  'a DEL in a header': lined('x-y: a\x7f', 'refused'),
  'a bare CR in a header': lined('x-y: a\rb', 'refused'),
  'an empty header name': lined(': a', 'refused'),
  'headers of 20 KB': lined(`x-y: ${'z'.repeat(20_000)}`, 'refused'),
  'a method in small letters': (random, body) => ({
    ...measured(random, body),
    is: 'refused',
    version: 'post {target} HTTP/1.1',
  }),
  'an unknown method': (random, body) => ({
    ...measured(random, body),
    is: 'refused',
    version: 'FETCH {target} HTTP/1.1',
  }),
  'HTTP/1.0': (random, body) => ({ ...measured(random, body), is: 'cut', version: '{method} {target} HTTP/1.0' }),
  // Node takes these two for what they are but for the number.
  'HTTP/2.0': (random, body) => ({ ...measured(random, body), is: 'cut', version: '{method} {target} HTTP/2.0' }),
  'HTTP/0.9': (random, body) => ({ ...measured(random, body), is: 'cut', version: '{method} {target}' }),
  'two blanks': (random, body) => ({ ...measured(random, body), is: 'cut', version: '{method}  {target} HTTP/1.1' }),
  'the greeting of HTTP/2': (random, body) => ({ ...measured(random, body), is: 'refused', version: 'PRI * HTTP/2.0' }),
  CONNECT: (random, body) => ({ ...measured(random, body), is: 'cut', version: 'CONNECT a.example:443 HTTP/1.1' }),
};

/** As clients frame a request. */
export const usualFraming = (random: Random, body: Buffer): Framing => ({ name: 'usual', ...measured(random, body) });

export function oddFraming(random: Random, body: Buffer): Framing {
  const name = random.of(Object.keys(FRAMES));
  return { name, ...(FRAMES[name] as Frame)(random, body) };
}
