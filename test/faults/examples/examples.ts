import type { Record } from '../checker.js';

/** What breaks a rule, and what is found then. */
export type Broken = [rule: string, what: string, says: RegExp, record: Record];

/** What looks bad to a rule, and is not: nothing is found. */
export type Allowed = [rule: string, what: string, record: Record];
