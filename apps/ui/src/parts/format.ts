import { now } from '../live/clock.js';

/** Format a duration: `40 ms`, `1.4 s`, `12 s`, `17 min`, `3.2 h`, `5 d`. */
export function duration(seconds: number): string {
  if (seconds < 1) return `${Math.max(0, Math.round(seconds * 1000))} ms`;
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  if (seconds < 100) return `${Math.round(seconds)} s`;
  if (seconds < 6000) return `${Math.round(seconds / 60)} min`;
  if (seconds < 172_800) return `${(seconds / 3600).toFixed(1)} h`;
  return `${Math.round(seconds / 86_400)} d`;
}

/** Return the seconds between two times; the second is now by default. */
export function secondsBetween(from: string, to: string | null = null): number {
  return ((to === null ? now.value : Date.parse(to)) - Date.parse(from)) / 1000;
}

const number = new Intl.NumberFormat('en');

/** Format a count with separators: `12,000`. */
export const count = (value: number): string => number.format(value);

/** Format a number of jobs: `1 job`, `2 jobs`. */
export const jobs = (value: number): string => `${count(value)} ${value === 1 ? 'job' : 'jobs'}`;

/** Shorten an ID in the middle. */
export const shortId = (id: string): string => (id.length <= 12 ? id : `${id.slice(0, 6)}…${id.slice(-4)}`);

const timeOfDay = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' });
const dateAndTime = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });

/** Format a time: only the time of day within twelve hours from now, otherwise with the date. */
export function timeText(at: string): string {
  const isRecent = Math.abs(secondsBetween(at)) < 43_200;
  return (isRecent ? timeOfDay : dateAndTime).format(new Date(at));
}
