import type { Io } from './command.js';
import { CALL_EXIT, type Outcome } from './exit-codes.js';

/** Flags of commands that ask for confirmation before they change several jobs. */
export interface ConfirmFlags {
  yes?: boolean;
}

/** Arguments of `option()` for a command that asks for confirmation. */
export const YES_OPTION = ['-y, --yes', 'skip the confirmation'] as const;

/** The outcome of a change that was not confirmed. */
export const DECLINED: Outcome = { exit: CALL_EXIT.refused, sentence: 'nothing was changed' };

/**
 * Ask the user to confirm a change of jobs.
 *
 * @param action what happens to each job, such as `delete`
 * @param where text after the number of jobs, such as ` in demo`
 */
export async function isConfirmed(
  ask: NonNullable<Io['ask']>,
  { action, count, where = '' }: { action: string; count: number; where?: string },
): Promise<boolean> {
  const verb = action.charAt(0).toUpperCase() + action.slice(1);
  const answer = await ask(`${verb} ${count} ${count === 1 ? 'job' : 'jobs'}${where}? [y/N] `);
  return /^y(es)?$/i.test(answer.trim());
}
