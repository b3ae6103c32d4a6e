/** Format of the ID of a job or operation: a partition, then 26 base-32 characters. Clients treat IDs as opaque. */
export const JOB_ID = '^[0-3][0-9a-f][a-z2-7]{26}$';
const FORM = new RegExp(JOB_ID);

/** Return whether text can be a job ID. Text that cannot is never used in a Redis key. */
export function isJobId(text: string): boolean {
  return FORM.test(text);
}
