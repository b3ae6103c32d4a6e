import { isIP } from 'node:net';
import { generate } from 'selfsigned';

/**
 * A key and a certificate that nobody has signed but itself.
 *
 * @param hosts names and addresses it is for
 * @param notAfter default: in a day
 */
export async function selfSigned(hosts: string[], { notAfter = new Date(Date.now() + 86_400_000) } = {}) {
  const altNames = hosts.map((host) =>
    isIP(host) === 0 ? { type: 2 as const, value: host } : { type: 7 as const, ip: host },
  );
  const { private: key, cert } = await generate([{ name: 'commonName', value: hosts[0] as string }], {
    keyType: 'ec',
    notBeforeDate: new Date('2020-01-01'),
    notAfterDate: notAfter,
    extensions: [{ name: 'subjectAltName', altNames }],
  });
  return { key, cert };
}
