import { type Env, UsageError } from '../command.js';

/**
 * Read the space of a command that takes it as an argument.
 *
 * @throws UsageError
 */
export function spaceArgumentOf(argument: string | undefined, env: Env): string {
  const spaceId = argument ?? (env.YARDMASTER_SPACE || null);
  if (spaceId === null) throw new UsageError('give the space as an argument, or set YARDMASTER_SPACE');
  if (spaceId === '') throw new UsageError('the id is empty');
  return spaceId;
}
