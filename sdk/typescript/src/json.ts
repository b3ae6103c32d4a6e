/** Objects that JSON would store as `{}`, or as an object of their bytes. */
const LOST =
  /^\[object (Map|Set|Weak\w+|Error|DOMException|RegExp|Promise|\w*ArrayBuffer|DataView|\w+Array|\w*Generator|.* Iterator)\]$/;

/**
 * Bodies over about 20 MB would be retried forever, because the service closes the connection in the middle of them.
 */
const MOST_CHARACTERS = 16_000_000;

/**
 * Convert a value to JSON.
 *
 * @param root name of the value in the error
 * @returns JSON text; `null` for undefined
 * @throws TypeError with the path of a value that JSON would lose or change: NaN, an invalid date, a Map, a function …;
 * RangeError if it is too large to send
 */
export function jsonOf(value: unknown, root: string): string {
  const paths = new Map<unknown, string>();
  function check(this: Record<string, unknown>, key: string, converted: unknown): unknown {
    const path = paths.size === 0 ? root : `${paths.get(this)}${accessOf(key, Array.isArray(this))}`;
    const fault = faultOf(this[key], converted);
    if (fault !== null) throw new TypeError(`${path} is ${fault}`);
    if (typeof converted === 'object' || paths.size === 0) paths.set(converted, path);
    return converted;
  }
  let text: string;
  try {
    text = JSON.stringify(value, check) ?? 'null';
  } catch (error) {
    const message = String((error as Error)?.message);
    if (message.startsWith('Converting circular')) throw new TypeError(`${root} contains itself`);
    if (error instanceof RangeError && message.includes('call stack'))
      throw new TypeError(`${root} has too many levels`);
    throw error;
  }
  if (text.length <= MOST_CHARACTERS) return text;
  const size = text.length.toLocaleString('en-US');
  throw new RangeError(
    `The ${root} has ${size} characters of JSON, which is too large to send. Store it elsewhere and use its URL.`,
  );
}

const accessOf = (key: string, isIndex: boolean): string =>
  isIndex ? `[${key}]` : /^[\w$]+$/.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`;

/** Describe a value that JSON can't represent; null if it can. */
function faultOf(original: unknown, converted: unknown): string | null {
  if (original instanceof Date) return Number.isNaN(original.getTime()) ? 'an invalid date' : null;
  if (typeof converted === 'number') return Number.isFinite(converted) ? null : String(converted);
  if (['function', 'symbol', 'bigint'].includes(typeof converted)) return `a ${typeof converted}`;
  if (typeof converted !== 'object' || converted === null) return null;
  const tag = Object.prototype.toString.call(converted);
  return LOST.test(tag) ? `of the class ${tag.slice(8, -1)}` : null;
}
