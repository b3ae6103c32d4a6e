import { isIP } from 'node:net';
import { generate } from 'selfsigned';

/**
 * Create a key and a self-signed certificate.
 *
 * @param hosts names and addresses that the certificate is valid for
 * @param notAfter end of its validity. Default: in a day
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
