// Replacement for @yardmaster/fsck in the npm package yardmaster, with the exports that the CLI uses.

/** Kinds of faults: none, because no check runs. */
export const FAULTS = {};

export const reasonOf = (error) => error.message;

export async function runFsck() {
  throw new Error(
    'fsck works on Redis itself, so this package does not have it; run it where the service is installed: ' +
      'node apps/cli/bin/yardmaster.mjs fsck',
  );
}

export { runFsck as runShow };
