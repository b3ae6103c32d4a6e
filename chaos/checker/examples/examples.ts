import type { Record } from '../checker.js';
import { type Change, DONE, story } from './story.js';

/** Records that break a rule, each with the name of the fault and a pattern for the report. */
export const BROKEN: [rule: string, what: string, says: RegExp, record: Record][] = [];

/** Correct records that seem to break a rule, which must report nothing. */
export const ALLOWED: [rule: string, what: string, record: Record][] = [];

/** A record, or the text of a story with changes. Without a text, the changes apply to a completed job. */
type Example = [Record] | [string, ...Change[]] | Change[];

function recordOf([first, ...changes]: Example): Record {
  if (typeof first === 'string') return story(first, ...(changes as Change[]));
  if (typeof first === 'object' && 'dump' in first) return first;
  return story(DONE, ...(first === undefined ? [] : [first]), ...(changes as Change[]));
}

/** Collect examples for a rule. */
export const examplesOf = (rule: string) => ({
  finds: (what: string, says: RegExp, ...example: Example) => void BROKEN.push([rule, what, says, recordOf(example)]),
  allows: (what: string, ...example: Example) => void ALLOWED.push([rule, what, recordOf(example)]),
});
