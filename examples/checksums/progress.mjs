/**
 * Show the progress of a run: one line that is overwritten on a terminal, otherwise a line at every tenth.
 *
 * @param total number of files
 */
export function createProgress(stream, total) {
  const began = performance.now();
  let drawnAt = 0;
  let tenths = 0;

  const line = (settled) => {
    const seconds = (performance.now() - began) / 1000;
    return `${settled} of ${total} files, ${Math.round(settled / seconds)} per second`;
  };
  const clear = () => {
    if (stream.isTTY) stream.write('\r\x1b[K');
  };

  return {
    update(settled) {
      if (stream.isTTY) {
        // A terminal gains nothing from more than ten a second.
        if (performance.now() - drawnAt < 100) return;
        drawnAt = performance.now();
        stream.write(`\r\x1b[K${line(settled)}`);
      } else if (Math.floor((10 * settled) / total) > tenths) {
        tenths = Math.floor((10 * settled) / total);
        stream.write(`${line(settled)}\n`);
      }
    },
    note(text) {
      clear();
      stream.write(`${text}\n`);
    },
    clear,
  };
}
