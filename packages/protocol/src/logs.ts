import { z } from 'zod';
import type { FaultDetail } from './errors.js';
import { jsonObject, required, timestampMs } from './fields.js';
import type { JsonObject } from './json.js';
import { faultsOf } from './validate.js';

/** Levels of a log entry, by weight (spec §2.5). Redis holds their place in this list: it may only grow at its end. */
export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const;

export type LogLevel = (typeof LOG_LEVELS)[number];

/** What an entry has where its worker says nothing. `loggedAt` is then the time of storage. */
export const LOG_DEFAULTS = { level: 'info', source: 'worker' } as const;

/** One entry as logs are read (spec §2.5). */
export interface LogEntry {
  /** `<jobId>.<seq>`. */
  id: string;
  /** Dense, from 1, per job; never used again when an entry is dropped. */
  seq: number;
  level: LogLevel;
  message: string;
  /** Where it comes from, as the worker says it. */
  source: string;
  /** Whatever the worker adds. */
  metadata: JsonObject;
  /** ISO 8601; when it happened, as the worker says it. */
  loggedAt: string;
  /** ISO 8601; when it was stored, by Redis' clock. */
  createdAt: string;
}

export const LEVEL_RULE = `must be one of ${LOG_LEVELS.join(', ')}`;

/** What programs write besides the form of RFC 3339: a blank or `t` for the T, a comma, no seconds, `z`, +0100, +01. */
const LOOSE = /^(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d)(:\d\d)?(?:[.,](\d+))?(?:[Zz]|([+-]\d\d):?(\d\d)?)$/;

/** The same moment in the form of RFC 3339; what is no timestamp stays as it is. */
function strict(value: unknown): unknown {
  if (typeof value !== 'string' || (value.length === 24 && value.endsWith('Z'))) return value; // As nearly always.
  return value.replace(
    LOOSE,
    (_, date, minutes, seconds = ':00', fraction = '0', offsetHours, offsetMinutes = '00') => {
      const zone = offsetHours === undefined ? 'Z' : `${offsetHours}:${offsetMinutes}`;
      return `${date}T${minutes}${seconds}.${fraction}${zone}`;
    },
  );
}

/** An entry in the form of an object, as workers send it. */
const fullLog = z.object(
  {
    message: z.string(required('must be a string')),
    level: z.enum(LOG_LEVELS, { error: LEVEL_RULE }).optional(),
    timestamp: z.preprocess(strict, timestampMs).optional(),
    source: z.string({ error: 'must be a string' }).optional(),
    metadata: jsonObject.optional(),
  },
  { error: 'must be a string or an object' },
);

/** An entry that is about to be stored. */
export type NewLog = z.output<typeof fullLog>;

/** What one entry of a batch is called in an error: by its place, or by its line. */
export type NameOfEntry = (field: string) => string;

/**
 * Check one entry of a batch: a message, or an object.
 *
 * @returns the entry, or its faults
 * @see spec §4.12
 */
export function checkLog(value: unknown, nameOf: NameOfEntry): NewLog | FaultDetail[] {
  if (typeof value === 'string') return { message: value };
  const outcome = fullLog.safeParse(value);
  return outcome.success ? outcome.data : faultsOf(outcome.error.issues, nameOf);
}

/** Answer of Append Logs. */
export interface AppendedLogs {
  success: true;
  inserted: number;
  /** Seq of the first entry of the batch. */
  fromSeq: number;
  toSeq: number;
}

/** What `logs_appended` tells (spec §6.1): the seqs of the first and last new entry, and how many they are. */
export type LogsAppended = { fromSeq: number; toSeq: number; count: number };

/** Which way a page of logs was asked for. */
export type LogsMode = 'after' | 'before' | 'latest';

/** Answer of Get Job Logs. */
export interface LogsPage {
  /** Ascending by seq. */
  logs: LogEntry[];
  cursor: {
    mode: LogsMode;
    /** Seq of the page's first entry; on an empty page the bound that was asked for, 0 for `latest`. */
    oldestSeq: number;
    /** Seq of the page's last entry, likewise. */
    newestSeq: number;
    /**
     * Whether more entries that match exist in the direction of paging, or may: a search that stopped early has
     * looked as far as the bound in that direction says.
     */
    hasMore: boolean;
  };
}
