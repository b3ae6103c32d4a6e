import { reasonOf, runFsck, runShow, type StoredRecord } from '@yardmaster/fsck';
import type { Env, Io } from '../command.js';
import { FSCK_EXIT, type Outcome } from '../exit-codes.js';
import { clip, printable, printableJson, printableLines } from '../terminal/printable.js';
import { jsonReport } from './report.js';
import { type TextReportOptions, textReport } from './text-report.js';

/** Parsed command line of `fsck`. */
export interface FsckRequest extends TextReportOptions {
  /** Variables of the service, such as REDIS_URL and KEY_PREFIX. */
  variables: Env;
}

/** Parsed command line of `fsck show`. */
export interface ShowRequest extends Pick<FsckRequest, 'variables'> {
  jobId: string;
  isJson: boolean;
}

/** Check the stored data, and report the faults. */
export async function checkAndReport(request: FsckRequest, io: Io): Promise<Outcome> {
  const report = request.format === 'json' ? jsonReport(io) : textReport(request, io);
  const signal = io.interruptSignal();
  try {
    const seen = await runFsck(request.variables, {
      isRepairing: request.isRepairing,
      onFault: report.fault,
      onProgress: report.progress,
      signal,
    });
    const left = report.end(seen, signal.aborted);
    if (signal.aborted) return { exit: FSCK_EXIT.interrupted, sentence: null };
    return { exit: left > 0 ? FSCK_EXIT.faults : FSCK_EXIT.clean, sentence: null };
  } catch (error) {
    report.close();
    return { exit: FSCK_EXIT.unchecked, sentence: printableLines(reasonOf(error)) };
  }
}

/** Maximum columns of a name or a value. `--json` prints them in full. */
const VALUE_COLUMNS = 200;

/** Print the record of a job. */
export async function printRecord({ jobId, isJson, variables }: ShowRequest, { out }: Io): Promise<Outcome> {
  let record: StoredRecord | null;
  try {
    record = await runShow(variables, jobId);
  } catch (error) {
    return { exit: FSCK_EXIT.unchecked, sentence: printableLines(reasonOf(error)) };
  }
  if (record === null) return { exit: FSCK_EXIT.faults, sentence: `job ${printable(jobId)} does not exist` };
  out.write(isJson ? `${printableJson(JSON.stringify(record))}\n` : textOf(record));
  return { exit: FSCK_EXIT.clean, sentence: null };
}

/** Format a record: one line for each part of its state, then one for each other field. */
function textOf({ state, fields }: StoredRecord): string {
  const parts = typeof state === 'string' ? { state } : (state ?? {});
  return [...Object.entries(parts), ...Object.entries(fields)]
    .map((texts) => `${texts.map((text) => clip(printable(text), VALUE_COLUMNS)).join('  ')}\n`)
    .join('');
}
