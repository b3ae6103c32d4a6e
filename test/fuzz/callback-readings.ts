import { type Fault, type JsonRecord, unless, wrong } from './fault.js';

/** What a URL is, and is surely none: null where it is neither. */
export function isCallbackUrl(value: unknown): boolean | null {
  if (typeof value !== 'string' || value.length > 2_048 || !/^https?:\/\//i.test(value) || !URL.canParse(value))
    return false;
  if (/\p{Surrogate}/u.test(value)) return false;
  const { username, password } = new URL(value);
  if (username !== '' || password !== '') return false;
  return /^https?:\/\/[a-z0-9.-]+(:\d+)?([/?#][\w./?&=#%~-]*)?$/.test(value) ? true : null;
}

const STEERING =
  /^(host|content-length|transfer-encoding|connection|keep-alive|proxy-.*|te|trailer|upgrade|expect|__proto__)$/i;

/** The faults of headers that a callback is to carry: none that steers the connection, none twice. */
export function callbackHeaderFaults(headers: JsonRecord): Fault[] {
  const at = 'callbackHeaders';
  const entries = Object.entries(headers);
  const bytes = entries.reduce(
    (sum, [name, value]) => sum + name.length + (typeof value === 'string' ? value.length : 0),
    0,
  );
  const isWrong = ([name, value]: [string, unknown]) =>
    !/^[\w!#$%&'*+.^`|~-]+$/.test(name) ||
    STEERING.test(name) ||
    typeof value !== 'string' ||
    /[^\t -~\x80-\xff]/.test(value);
  const names = new Set(entries.map(([name]) => name.toLowerCase()));
  return unless(
    !entries.some(isWrong) && entries.length <= 20 && bytes <= 4_096 && names.size === entries.length,
    wrong(at),
  );
}
