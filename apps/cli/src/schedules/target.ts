import type { Scope } from '@yardmaster/protocol';
import type { CommandLine } from '../command.js';
import { idIn, type SpaceFlags, spaceOf } from '../flags.js';
import { spacePath } from '../service/service.js';

/** Read the ID of a schedule from the first argument, its space, and the service and output flags. @throws UsageError */
export function scheduleIn(line: CommandLine<SpaceFlags>, action: string, scope: Scope) {
  const { id, ...target } = idIn(line, action, scope);
  return { ...target, id, spaceId: spaceOf(line.flags, line.env) };
}

/** Return the path of a schedule or of one of its endpoints, relative to /api/v1. */
export const schedulePath = ({ spaceId, id }: { spaceId: string; id: string }, endpoint = '') =>
  spacePath(spaceId, `schedules/${encodeURIComponent(id)}${endpoint}`);
