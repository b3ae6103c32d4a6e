import { reasonOf, runFsck } from '@yardmaster/fsck';
import type { Io } from '../command.js';
import type { Outcome } from '../exit-codes.js';
import { FSCK_EXIT } from '../exit-codes.js';
import { printableLines } from '../terminal/printable.js';
import type { FsckRequest } from './command.js';
import { jsonReport } from './report.js';
import { textReport } from './text-report.js';

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
