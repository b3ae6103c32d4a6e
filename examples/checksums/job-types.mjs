export const SMALL = 'checksum.small';
export const LARGE = 'checksum.large';

/** From this size on, reading a file takes longer than its calls. */
const LARGE_FROM_BYTES = 1024 * 1024;

/** The job type for a file of this size. */
export const typeOf = (size) => (size >= LARGE_FROM_BYTES ? LARGE : SMALL);

/**
 * The types that the worker at this place (from 0) polls for. Every fourth takes small files only, so that some get
 * through while the others all read large ones. The first takes everything, so that no type goes unserved.
 */
export const typesOfWorker = (place) => (place % 4 === 3 ? [SMALL] : [SMALL, LARGE]);
