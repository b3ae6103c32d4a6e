// Labels put jobs into the indexes of tags without being tags: which schedule created a job. In a record, they are among the
// tags. A tag contains no control characters, so a label starts with one.

const OF_SCHEDULE = '\u0001';

/** Return the label of the jobs of a schedule. */
export const scheduleLabel = (scheduleId: string): string => OF_SCHEDULE + scheduleId;

/** Tags and labels of a job. */
interface Labels {
  tags: string[];
  /** ID of the schedule that created the job; null for none. */
  scheduleId: string | null;
}

/** Parse the field `tags` of a record. */
export function labelsOfStored(text: string | null | undefined): Labels {
  const all = text ? text.split('\n') : [];
  const label = all.find((one) => one.startsWith(OF_SCHEDULE));
  if (label === undefined) return { tags: all, scheduleId: null };
  return { tags: all.filter((one) => one !== label), scheduleId: label.slice(OF_SCHEDULE.length) };
}
