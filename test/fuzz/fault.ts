/** What keeps a request from being taken, by the specification. */
export interface Fault {
  /** Beginnings of the sentence that may name it. */
  at: readonly string[];
  code: 'INVALID_REQUEST' | 'TOO_LARGE' | 'UNSUPPORTED_MEDIA_TYPE';
  /** The specification does not settle it: refusing it and taking it are both right. */
  isUnclear?: true;
}

/** What a body or a query says: its faults, and, where there is none, how it is to be read back. */
export interface Reading {
  faults: Fault[];
  value?: unknown;
}

export const wrong = (...at: string[]): Fault => ({ at, code: 'INVALID_REQUEST' });
export const tooLarge = (...at: string[]): Fault => ({ at, code: 'TOO_LARGE' });
export const unclear = (fault: Fault): Fault => ({ ...fault, isUnclear: true });

/** A fault unless something holds. */
export const unless = (holds: boolean, fault: Fault): Fault[] => (holds ? [] : [fault]);

export type JsonRecord = Record<string, unknown>;

export const isRecord = (value: unknown): value is JsonRecord =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A field of a body, and nothing that its prototype has. */
export const field = (body: JsonRecord, name: string) => (Object.hasOwn(body, name) ? body[name] : undefined);

export const isNumber = (value: unknown, min: number, max: number) =>
  typeof value === 'number' && value >= min && value <= max;

/** Levels of arrays and objects in a value; infinite when a number in it is. */
export function depthOf(value: unknown): number {
  if (typeof value === 'number') return Number.isFinite(value) ? 0 : Number.POSITIVE_INFINITY;
  if (typeof value !== 'object' || value === null) return 0;
  let deepest = 0;
  // One level after the other, and not by recursion: it may be 100 000 deep.
  let level: unknown[] = [value];
  while (level.length > 0) {
    deepest++;
    const next = level.flatMap((each) => Object.values(each as object));
    if (next.some((each) => typeof each === 'number' && !Number.isFinite(each))) return Number.POSITIVE_INFINITY;
    level = next.filter((each) => typeof each === 'object' && each !== null);
  }
  return deepest;
}

const MOST_LEVELS = 64;

/** The faults of any JSON that is to be kept as it is. */
export function jsonFaults(value: unknown, at: string, limit: number): Fault[] {
  if (depthOf(value) > MOST_LEVELS) return [wrong(at)];
  return unless(Buffer.byteLength(JSON.stringify(value)) <= limit, tooLarge(at));
}

/** 1 to 128 characters, none of them half of one. */
export const isName = (value: unknown) =>
  typeof value === 'string' && value !== '' && [...value].length <= 128 && !/\p{Surrogate}/u.test(value);

const STRICT =
  /^(?!0000|9999)(\d{4})-(0[1-9]|1[0-2])-(\d\d)T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,3})?(Z|[+-](0\d|1[0-3]):[0-5]\d)$/;

/** ISO 8601 with a time zone: whether it is, or null where tastes differ. */
export function isTimestamp(value: unknown): boolean | null {
  if (typeof value !== 'string' || !/^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d/.test(value)) return false;
  const [, year, month, day] = STRICT.exec(value) ?? [];
  if (year === undefined) return null;
  const days = new Date(Date.UTC(Number(year), Number(month), 0)).getUTCDate();
  return Number(day) >= 1 && Number(day) <= days;
}

/** Faults of a field by such a verdict. */
export const byVerdict = (verdict: boolean | null, fault: Fault): Fault[] =>
  verdict === true ? [] : [verdict === null ? unclear(fault) : fault];
