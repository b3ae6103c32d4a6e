import { YardmasterError } from '@yardmaster/protocol';

/**
 * Return the content type of a body.
 *
 * @param allowed accepted types, lower case; a refusal names the first two
 * @returns one of them
 * @throws UNSUPPORTED_MEDIA_TYPE also for a charset other than UTF-8
 */
export function contentTypeOf<T extends string>(header: string | undefined, allowed: readonly T[]): T {
  const known = allowed.find((type) => type === header);
  if (known !== undefined) return known; // Nearly every client writes it this way.
  const [name = '', ...parameters] = (header ?? '').toLowerCase().split(';');
  const charset = parameters.map((parameter) => parameter.trim()).find((parameter) => parameter.startsWith('charset='));
  const type = allowed.find((one) => one === name.trim());
  if (type === undefined) {
    throw new YardmasterError('UNSUPPORTED_MEDIA_TYPE', `Content-Type must be ${allowed.slice(0, 2).join(' or ')}`);
  }
  if (charset !== undefined && !/^charset="?utf-?8"?$/.test(charset)) {
    throw new YardmasterError('UNSUPPORTED_MEDIA_TYPE', 'charset must be utf-8');
  }
  return type;
}
