const ends = new Set<() => void>();

process.on('exit', () => {
  for (const end of ends) end();
});

/**
 * End something when this process ends, however it does, short of kill -9. One listener for all: there are many of them.
 *
 * @returns a function that takes it back, for what has ended already
 */
export function onExit(end: () => void): () => void {
  ends.add(end);
  return () => {
    ends.delete(end);
  };
}
