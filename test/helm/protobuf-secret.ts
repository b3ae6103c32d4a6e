import type { Manifest } from './chart.js';

// Helm stores its releases in Secrets that it always sends as Protocol Buffers. This file parses the fields of
// k8s.io/api/core/v1/generated.proto that they use.

type Field = [number: number, bytes: Buffer];

/** Iterate over the fields of a message that are bytes, texts or messages; numbers are skipped. */
function* fieldsOf(message: Buffer): Generator<Field> {
  let at = 0;
  const varint = () => {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = message[at++] as number;
      value += (byte & 127) * scale;
      if (byte < 128) return value;
    }
  };
  while (at < message.length) {
    const tag = varint();
    if ((tag & 7) === 0) varint();
    else {
      const length = varint();
      yield [tag >> 3, message.subarray(at, at + length)];
      at += length;
    }
  }
}

const first = (message: Buffer, number: number): Buffer =>
  [...fieldsOf(message)].find(([field]) => field === number)?.[1] ?? Buffer.alloc(0);

function mapOf(message: Buffer, number: number, encoding: BufferEncoding): Record<string, string> {
  const entries = [...fieldsOf(message)].filter(([field]) => field === number);
  return Object.fromEntries(entries.map(([, entry]) => [String(first(entry, 1)), first(entry, 2).toString(encoding)]));
}

/** Parse a Secret as the API server does: after the magic number comes an envelope that contains the Secret. */
export function readProtobufSecret(body: Buffer): Manifest {
  const secret = first(body.subarray('k8s\0'.length), 2);
  const metadata = first(secret, 1);
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: String(first(metadata, 1)), labels: mapOf(metadata, 11, 'utf8') },
    type: String(first(secret, 3)),
    data: mapOf(secret, 2, 'base64'),
  };
}
