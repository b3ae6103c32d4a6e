/** An error as a worker reports it. A plain object that a handler throws has other fields. */
export type ErrorObject = {
  /** Class. */
  name: string;
  message: string;
  /** Frames, innermost first, without name and message. */
  stack?: string;
  /** What has caused it, or the members of a group. */
  causes?: ErrorObject[];
};

const hasMessage = (error: unknown): error is ErrorObject =>
  typeof error === 'object' && error !== null && typeof (error as ErrorObject).message === 'string';

/** Return the error of a job on one line, with its causes. It may have any form, because any client may have sent it. */
export function lineOf(error: unknown): string {
  if (typeof error === 'string') return onOneLine(error);
  if (!hasMessage(error)) return JSON.stringify(error) ?? '';
  const { name, message, causes } = error;
  const own = [name, message].filter((part) => typeof part === 'string' && part !== '').join(': ');
  const [cause] = Array.isArray(causes) ? causes : [];
  return onOneLine(cause === undefined ? own : `${own} (cause: ${lineOf(cause)})`);
}

/** Return an error with the lines of its stack, and with those of its causes. */
export function traceOf({ name, message, stack, causes = [] }: ErrorObject): string {
  const own = [`${name}: ${message}`, ...(stack === undefined ? [] : [stack])].join('\n');
  return [own, ...causes.map((cause) => `cause: ${traceOf(cause)}`)].join('\n');
}

const onOneLine = (text: string): string => text.replace(/\s*[\r\n]+\s*/g, ' ');
