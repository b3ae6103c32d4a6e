/** An error as a worker reports it. If a handler throws a plain object, that object is stored instead. */
export type ErrorObject = {
  /** Class of the error. */
  name: string;
  message: string;
  /** Stack frames, innermost first, without name and message. */
  stack?: string;
  /** The causes of the error, or the members of a group. */
  causes?: ErrorObject[];
};

const hasMessage = (error: unknown): error is ErrorObject =>
  typeof error === 'object' && error !== null && typeof (error as ErrorObject).message === 'string';

/**
 * Return a job's error and its causes on one line. The error can have any form, because any client may have sent it.
 */
export function errorLine(error: unknown): string {
  if (typeof error === 'string') return onOneLine(error);
  if (!hasMessage(error)) return JSON.stringify(error) ?? '';
  const [cause] = Array.isArray(error.causes) ? error.causes : [];
  return onOneLine(cause === undefined ? headOf(error) : `${headOf(error)} (cause: ${errorLine(cause)})`);
}

/** Return an error with the lines of its stack and its causes; null if it has neither. */
export function errorTrace(error: unknown): string | null {
  const trace = stackOf(error);
  return trace === null ? null : [headOf(error as ErrorObject), trace].join('\n');
}

/** Return the lines of an error's stack and causes; null if it has neither. */
export function stackOf(error: unknown): string | null {
  if (!hasMessage(error)) return null;
  const { stack, causes } = error;
  const own = typeof stack === 'string' ? [stack] : [];
  const others = Array.isArray(causes) ? causes.map((cause) => `cause: ${errorTrace(cause) ?? errorLine(cause)}`) : [];
  const lines = [...own, ...others];
  return lines.length === 0 ? null : lines.join('\n');
}

const headOf = ({ name, message }: ErrorObject): string =>
  [name, message].filter((part) => typeof part === 'string' && part !== '').join(': ');

const onOneLine = (text: string): string => text.replace(/\s*[\r\n]+\s*/g, ' ');
