/** Say what follows from a pause or its end; without names it is about the whole space. */
export function pauseEffect(verb: 'Pause' | 'Resume', names: string[] | null): string {
  if (verb === 'Pause') return 'Workers get none of these jobs. They can be created, and those that run go on.';
  return names === null
    ? 'Workers get jobs again. This also ends the pauses of single names.'
    : 'Workers get these jobs again.';
}
