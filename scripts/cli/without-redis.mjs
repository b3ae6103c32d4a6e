// What the package yardmaster has in place of @yardmaster/fsck, with the exports that the command uses.

/** Kinds of faults. No check runs, so there are none. */
export const FAULTS = {};

export const reasonOf = (error) => error.message;

export async function runFsck() {
  throw new Error(
    'fsck works on Redis itself, so this package does not have it; run it where the service is installed: ' +
      'node apps/cli/bin/yardmaster.mjs fsck',
  );
}

export { runFsck as runShow };
