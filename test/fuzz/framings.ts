import fc from 'fast-check';

/**
 * How a request is framed. `whole`: in any way that HTTP allows. `refused`: in a way that HTTP forbids. `cut`: with a valid
 * beginning, so that the response depends on how much of it is read.
 */
type Kind = 'whole' | 'refused' | 'cut';

export interface Framing {
  is: Kind;
  first: string;
  /** Additional lines of the head; `{n}` is the number of bytes of the body. */
  lines: string;
  /** The end of a chunked body; null for a body that is not chunked. */
  end: string | null;
}

const END = '0\r\n\r\n';

const LENGTH = 'Content-Length: {n}';

export const IDEMPOTENCY_KEY = 'idempotency-key:';

export const USUAL: Framing = { is: 'whole', first: '{method} {target} HTTP/1.1', lines: LENGTH, end: null };

/** Lengths, other lines, first lines, and ends of chunks; test/api/http.test.ts has more invalid HTTP. */
const ODD: Record<Kind, { lengths: string[]; lines: string[]; firsts: string[]; ends: string[] }> = {
  whole: {
    lengths: ['000{n}', '  {n} '],
    lines: [
      'Connection: close',
      'Expect: 100-continue',
      'Connection: Upgrade\r\nUpgrade: h2c',
      '__proto__: a\r\nx-empty:',
      `${IDEMPOTENCY_KEY} a`,
    ],
    firsts: [],
    ends: [END, '0\r\nx-trailer: a\r\n\r\n', '0;a=b;c="d"\r\n\r\n'],
  },
  refused: {
    lengths: ['9'.repeat(40), '-1', '+{n}', '{n}, {n}'],
    lines: ['Transfer-Encoding: chunked', 'Host: other', 'no colon', 'x: a\rb', `x: ${'z'.repeat(20_000)}`],
    firsts: ['post {target} HTTP/1.1', 'FETCH {target} HTTP/1.1', 'PRI * HTTP/2.0'],
    ends: [],
  },
  cut: {
    lengths: ['{n}5', '9{n}00000000000', '0'],
    lines: ['x: a\r\n b'],
    firsts: ['{method} {target} HTTP/1.0', '{method} {target}', 'CONNECT a.example:443 HTTP/1.1'],
    ends: ['', '0', 'zz\r\n', `1;${'x'.repeat(40_000)}\r\na\r\n${END}`, `0\r\nx: ${'y'.repeat(40_000)}\r\n\r\n`],
  },
};

const framings = (['whole', 'refused', 'cut'] as const).flatMap((is): Framing[] => [
  ...ODD[is].lengths.map((length) => ({ ...USUAL, is, lines: `Content-Length: ${length}` })),
  ...ODD[is].lines.map((line) => ({ ...USUAL, is, lines: `${LENGTH}\r\n${line}` })),
  ...ODD[is].firsts.map((first) => ({ ...USUAL, is, first })),
  ...ODD[is].ends.map((end) => ({ ...USUAL, is, lines: 'Transfer-Encoding: chunked', end })),
]);

/** Draw unusual and invalid framings. */
export const oddFraming = fc.constantFrom(...framings);

/** Frame a body: as it is, or in at most a thousand chunks of at least three bytes. */
export function framed(body: Buffer, { end }: Framing): Buffer {
  if (end === null) return body;
  const size = Math.max(3, Math.ceil(body.length / 1_000));
  const parts: Buffer[] = [];
  for (let at = 0; at < body.length; at += size) {
    const chunk = body.subarray(at, at + size);
    parts.push(Buffer.from(`${chunk.length.toString(16)}\r\n`), chunk, Buffer.from('\r\n'));
  }
  return Buffer.concat([...parts, Buffer.from(end)]);
}
