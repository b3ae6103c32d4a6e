/** Form of a job id, and of that of an operation: a partition, then 26 characters of base 32. Clients treat it as opaque. */
export const JOB_ID = '^[0-3][0-9a-f][a-z2-7]{26}$';
const FORM = new RegExp(JOB_ID);

/** Check whether a text can be the id of a job. A text that cannot is never put into a Redis key. */
export function isJobId(text: string): boolean {
  return FORM.test(text);
}
