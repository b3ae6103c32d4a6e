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
export function errorLine(error: unknown): string {
  if (typeof error === 'string') return onOneLine(error);
  if (!hasMessage(error)) return JSON.stringify(error) ?? '';
  const { name, message, causes } = error;
  const own = [name, message].filter((part) => typeof part === 'string' && part !== '').join(': ');
  const [cause] = Array.isArray(causes) ? causes : [];
  return onOneLine(cause === undefined ? own : `${own} (cause: ${errorLine(cause)})`);
}

/** Return an error with the lines of its stack and of its causes; null for one that has neither. */
export function errorTrace(error: unknown): string | null {
  if (!hasMessage(error)) return null;
  const { name, message, stack, causes } = error;
  if (typeof stack !== 'string' && !Array.isArray(causes)) return null;
  const own = [`${name}: ${message}`, ...(typeof stack === 'string' ? [stack] : [])];
  const others = (causes ?? []).map((cause) => `cause: ${errorTrace(cause) ?? errorLine(cause)}`);
  return [...own, ...others].join('\n');
}

const onOneLine = (text: string): string => text.replace(/\s*[\r\n]+\s*/g, ' ');
